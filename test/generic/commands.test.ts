/** The command line, for every content: migrate, seed, export and import, backup and restore, serve. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { kindsOf } from '#cli/transfer/kinds.ts'
import { loadConfig } from '#config.ts'
import { fillEmpty } from '#serve/prepare.ts'
import { openFor, storeOf } from '#serve/store.ts'
import { commandsOf } from '../commands.ts'
import { folderOf, type Settings, serve, serveBy } from '../duet.ts'
import { sqliteTest as it, onPostgres } from '../stores.ts'
import { isShort } from '../support/short.ts'
import { modelAsUsual } from '../world.ts'
import { subjects } from './contents.ts'

type Command = readonly [Settings, ...string[]]

const fileAt = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** In a short run and on PostgreSQL the library alone, which has an example of each part: this content has tests of its own. */
const tried = onPostgres ? subjects.slice(1, 2) : subjects.slice(isShort ? 1 : 0)

for (const { name, content, named, program, options = [] } of tried)
  describe(`the command line of ${name}`, () => {
    const command = commandsOf(...named)
    const { folder, freshStore } = folderOf('generic')
    const kinds = Object.keys(kindsOf(content))
    const noDemo = !content.demo && 'NOT TESTED: the content has no `demo` to answer them with'
    const noSeed = !content.seed && 'NOT TESTED: the content has no `seed`'

    /** Runs the commands one after another; gives what they write. */
    const run = async (...commands: readonly Command[]): Promise<string> => {
      const runs = await Promise.all(commands.map(([settings, ...args]) => command(args, settings)))
      for (const { code, stderr } of runs) assert.equal(code, 0, stderr)
      return runs.map(({ stdout }) => stdout).join('')
    }

    // Where tokens have subjects, a service has to know whose.
    const parties =
      content.viewers.by === undefined
        ? {}
        : { DUET_AUTH_ISSUER: 'https://login.example', DUET_AUTH_AUDIENCE: name }
    const bare = async (): Promise<Settings> => ({
      ...(await freshStore({ bare: true })).settings,
      ...parties,
    })

    /** The file of a kind as it is written of a store that is called so. */
    const fileOf = (store: string, kind: string, format = 'csv') =>
      join(folder, `${store}-${kind}.${format}`)

    const exports = (settings: Settings, store: string, format?: string): readonly Command[] =>
      kinds.map(kind => [settings, 'export', kind, fileOf(store, kind, format)])

    const agree = (one: string, other: string, format?: string) => {
      for (const kind of kinds) {
        const [first, second] = [one, other].map(store => fileOf(store, kind, format))
        assert.equal(readFileSync(first ?? '', 'utf8'), readFileSync(second ?? '', 'utf8'), kind)
      }
    }

    let demo: Settings
    before(async () => {
      demo = await bare()
      const store = await storeOf(loadConfig(demo, content.settings), content)
      const { session, dialect } = await openFor('filling', store)
      await fillEmpty(
        { session, dialect, model: modelAsUsual(content) },
        (await content.demo?.()) ?? {},
      )
      await session.close()
    })

    test('the migrations make all that the model has, once', async () => {
      const settings = await bare()
      const written = await run(
        [settings, 'migrate'],
        [settings, 'migrate'],
        [settings, 'migrate', '--draft', 'nothing'],
      )
      const [applied, ...rest] = written.trimEnd().split('\n')
      assert.match(applied ?? '', /^applied .*0001-/)
      assert.deepEqual(rest, [
        'the store is up to date',
        'the migrations make all that the model has',
      ])
    })

    for (const format of ['ndjson', 'csv'])
      test(`what is exported as ${format} is imported as it was`, async () => {
        const settings = await bare()
        const imports = kinds.map(
          (kind): Command => [settings, 'import', kind, fileOf('demo', kind, format)],
        )
        await run(
          ...exports(demo, 'demo', format),
          ...imports,
          ...exports(settings, 'copy', format),
        )
        agree('demo', 'copy', format)
      })

    test('made-up rows are as many as are asked for', { skip: noSeed }, async () => {
      const settings = await bare()
      const { sizes = {} } = (await content.seed?.()) ?? {}
      const names = Object.keys(sizes)
      const args = names.flatMap((name, index) => [`--${name}`, String(index + 2)])
      await run([settings, 'seed', ...args], ...exports(settings, 'seeded', 'ndjson'))
      for (const [index, kind] of names.entries()) {
        const lines = readFileSync(fileOf('seeded', kind, 'ndjson'), 'utf8')
          .trimEnd()
          .split('\n')
        assert.equal(lines.length, index + 2, kind)
      }
    })

    it('a backup has all that the store has [A15]', async () => {
      const settings = await bare()
      const file = join(folder, 'backup.db')
      await run([demo, 'backup', file], [settings, 'restore', file])
      await run(...exports(demo, 'whole'), ...exports(settings, 'restored'))
      agree('whole', 'restored')
    })

    test('its examples are answered, with a token and without', { skip: noDemo }, async () => {
      const service = await (program
        ? serveBy(fileAt(`../../${program}`), demo)
        : serve(demo, ...options))
      const { rest, graphql, withToken } = content.examples
      const { entity, roles } = content.viewers
      const whose = entity === undefined ? ['--subject', 'a program'] : [`--${entity}`, '1']
      const token = (await run([demo, 'token', ...whose, '--role', roles.superuser])).trim()
      const authorization = { Authorization: `Bearer ${token}` }
      const get = (path: string, headers = {}) => fetch(`${service.url}/api${path}`, { headers })
      const post = (query: string, headers = {}) =>
        fetch(`${service.url}/graphql`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', ...headers },
          body: JSON.stringify({ query }),
        })
      const answers = [
        await get(rest),
        await get(withToken.rest, authorization),
        await post(graphql),
        await post(withToken.graphql, authorization),
      ]
      for (const answer of answers) {
        const text = await answer.text()
        assert.equal(answer.status, 200, text)
        assert.equal(JSON.parse(text).errors, undefined, text)
        assert.notDeepEqual(JSON.parse(text).data, [])
      }
      assert.equal((await service.end()).code, 0)
    })

    test('the helps name its kinds and its sizes', async () => {
      const ofSeed: readonly Command[] = content.seed ? [[{}, 'seed', '--help']] : []
      const help = await run([{}, 'import', '--help'], ...ofSeed)
      const { sizes = {} } = (await content.seed?.()) ?? {}
      for (const word of [...kinds, ...Object.keys(sizes).map(size => `--${size}`)])
        assert.ok(help.includes(word), word)
    })
  })
