/** The admin of any model: a button is there exactly where its request succeeds, for each row and each role. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entity } from '../../admin/model.ts'
import { rounds, usualSeed } from '../support/rounds.ts'
import { drawn, engines } from './compare.ts'
import { modelBy } from './models.ts'
import { newReference } from './reference.ts'
import { create } from './requests.ts'
import { modelFor, type Service, serveWithMembers } from './serve.ts'

/** Rows of an entity whose ids are looked at, the last of which there is none of. */
const ids = [1, 2, 3, 4, 5, 99]

/** What the page would offer for a row. */
const offered = (entity: Entity, words: readonly string[] = []): readonly string[] =>
  (['update', 'delete'] as const).filter(
    word => entity.may[word] !== 'no' && words.includes(word) && entity.may.one,
  )

const compareRow = async (
  service: Service,
  as: 'user' | 'admin',
  entity: Entity,
  api: string,
  id: number,
) => {
  const asked = `GET /admin/may.json?entity=${entity.name}&ids=${id}`
  const may = await service.ask({ line: asked, as })
  assert.equal(may.status, 200, `${as}: ${asked} ${may.text}`)
  const words = JSON.parse(may.text)[id]
  const at = `${api}${entity.path}/${id}`
  const seen = await service.ask({ line: `GET ${at}`, as })
  if (entity.may.one)
    assert.equal(seen.status === 200, words !== undefined, `${as}: ${at} ${seen.text} ${may.text}`)
  const buttons = offered(entity, words)
  const tried = [
    ['update', { line: `PATCH ${at}`, as, body: {} }],
    ['delete', { line: `DELETE ${at}`, as }],
  ] as const
  for (const [word, request] of tried) {
    if (entity.may[word] === 'no') continue
    const { status, text } = await service.ask(request)
    // Rows that refer to it are no matter of rights, nor is a row that must become otherwise: the page says the refusal.
    const isSaid = word === 'delete' ? status === 409 : status === 403 && text.includes(' so"')
    const isAllowed = status === 200 || status === 204 || isSaid
    assert.equal(buttons.includes(word), isAllowed, `${as}: ${request.line} ${status} ${text}`)
  }
}

const begun = usualSeed(46)
for (const on of engines)
  for (let n = 0; n < rounds(4, 20); n++)
    test(`in the generated model ${n} on ${on} the buttons are those whose requests succeed`, async t => {
      t.diagnostic(`DUET_SEED=${begun}`)
      const draw = drawn(begun * 1000 + n)
      const entities = modelBy(draw)
      const reference = newReference(modelFor(entities))
      const service = await serveWithMembers(entities, on, 'Ann', 'Ben', 'Cleo')
      try {
        const names = Object.keys(entities) as [string, ...string[]]
        for (let made = 0; made < 40; made++)
          await service.ask(create(draw, reference, draw.of(...names)).request)
        for (const as of ['user', 'admin'] as const) {
          const { text } = await service.ask({ line: 'GET /admin/model.json', as })
          const model = JSON.parse(text)
          for (const entity of model.entities as readonly Entity[]) {
            for (const id of ids) await compareRow(service, as, entity, model.api, id)
            if (entity.may.list === 'no') continue
            const list = await service.ask({ line: `GET ${model.api}${entity.path}`, as })
            assert.equal(list.status, 200, `${as}: ${entity.path} ${list.text}`)
            for (const { name, sort, where } of entity.fields) {
              const at = `GET ${model.api}${entity.path}`
              const lines = [
                ...(sort ? [`${at}?sort=${name}`] : []),
                ...(where && entity.sums ? [`${at}/aggregate?group=${name}`] : []),
              ]
              for (const line of lines) {
                const { status, text } = await service.ask({ line, as })
                assert.ok(status !== 401 && status !== 403, `${as}: ${line} ${status} ${text}`)
              }
            }
          }
        }
      } finally {
        await service.close()
      }
    })
