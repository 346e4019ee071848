/** Callers who put, replace, remove and send files all the time, and know which file each row may have; what they may be told; and what a store must have in the end. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { Agent, request } from 'node:http'
import { mint } from '#auth/token.ts'
import { oneOf } from '#base/random.ts'
import { storeOf } from '#files/by-hand.ts'
import { collectGarbage } from '#files/garbage.ts'
import type { FileStore } from '#files/store.ts'
import type { Look } from '#test/stores.ts'
import { gallery, pdf } from '../support/gallery.ts'
import { secret, type World } from '../world.ts'

type Told = { readonly status: number; readonly bytes: Buffer }

/** A row with the files that it may have, by their digests: several where an answer was lost. */
type Caller = { readonly id: number; may: ReadonlySet<string | null> }

type Loading = {
  /** The addresses of those who serve now. */
  readonly urls: () => readonly string[]
  readonly random: () => number
  /** Whether an answer may be lost at this moment. */
  readonly mayBeLost: () => boolean
  /** What a refusal may be. */
  readonly refusals: readonly string[]
  /** What was refused, how often. */
  readonly told: Map<string, number>
  /** Told of each piece of a request that was sent, and of each answer. */
  readonly moved?: () => void
}

const piece = 8192
const formBegins = '--cut\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n'
const headers = {
  Authorization: `Bearer ${await mint({ sub: 2, role: 'member', ttl: 86_400 }, secret, Date.now())}`,
}

/** So many callers of whom each has a row of its own; they share what they send, so that the same bytes come, go and are collected at once. */
export const fileLoad = async (
  count: number,
  { urls, random, mayBeLost, refusals, told, moved = () => {} }: Loading,
) => {
  const draw = (below: number) => Math.floor(random() * below)
  const papers = Array.from({ length: 8 }, (_, at) => pdf(`${at}`.padEnd(draw(190_000), '. ')))
  /** Sends a request piece by piece; undefined where its answer was lost. */
  const ask = (
    method: string,
    path: string,
    body?: Uint8Array | string,
    sentAs = 'application/pdf',
  ): Promise<Told | undefined> => {
    const { promise, resolve } = Promise.withResolvers<Told | undefined>()
    const raw = Buffer.from(body ?? '')
    const type = typeof body === 'string' ? 'application/json' : sentAs
    // Each has a connection of its own: one that a service ends as idle while it is reused would look like a lost answer.
    const agent = new Agent({ keepAlive: true })
    const asked = request(new URL(path, oneOf(urls(), random) ?? 'http://127.0.0.1:1'), {
      ...{ agent, method },
      headers: { ...headers, ...(body && { 'Content-Type': type, 'Content-Length': raw.length }) },
    })
    asked.on('error', () => resolve(undefined))
    asked.on('close', () => agent.destroy())
    asked.on('response', answer => {
      const chunks: Buffer[] = []
      answer.on('error', () => resolve(undefined))
      answer.on('data', chunk => chunks.push(chunk))
      answer.on('end', () => {
        moved()
        resolve({ status: answer.statusCode ?? 0, bytes: Buffer.concat(chunks) })
      })
    })
    const send = (from: number) => {
      if (from >= raw.length) return void asked.end()
      asked.write(raw.subarray(from, from + piece), error => {
        moved()
        if (!error) send(from + piece)
      })
    }
    send(0)
    return promise
  }

  /** Whether it was done; undefined where that is not known. Fails where it was refused otherwise than it may be. */
  const outcomeOf = (answer: Told | undefined): boolean | undefined => {
    if (!answer) {
      assert.ok(mayBeLost(), 'an answer was lost')
      return undefined
    }
    const { status, bytes } = answer
    if (status < 300) return true
    const { code, detail } = JSON.parse(bytes.toString())
    const refusal = `${status} ${code}`
    assert.ok(refusals.includes(refusal), `${refusal}: ${detail}`)
    told.set(refusal, (told.get(refusal) ?? 0) + 1)
    // Of a commit that failed on the way nobody knows more.
    return status === 503 ? undefined : false
  }
  const idOf = (answer: Told | undefined) =>
    outcomeOf(answer) ? JSON.parse(String(answer?.bytes)).id : undefined

  const wants = async (
    caller: Caller,
    digest: string | null,
    answer: Promise<Told | undefined>,
  ) => {
    const isDone = outcomeOf(await answer)
    if (isDone !== false) caller.may = new Set(isDone ? [digest] : [...caller.may, digest])
    return isDone
  }

  /** Looks at the file of a row, which is whole and one that it may have. */
  const look = async (caller: Caller): Promise<void> => {
    const answer = await ask('GET', `/api/applications/${caller.id}/cv`)
    const isNone = answer?.status === 404
    if (!isNone && outcomeOf(answer) !== true) return
    const digest = isNone ? null : hash('sha256', answer?.bytes ?? '')
    const may = [...caller.may].map(one => one?.slice(0, 12))
    assert.ok(caller.may.has(digest), `row ${caller.id} has ${digest?.slice(0, 12)}, not ${may}`)
    caller.may = new Set([digest])
  }

  const upload = async (paper: Uint8Array) => {
    if (random() < 0.5) return idOf(await ask('POST', '/api/files', paper))
    const form = Buffer.concat([Buffer.from(formBegins), paper, Buffer.from('\r\n--cut--\r\n')])
    return idOf(await ask('POST', '/api/files', form, 'multipart/form-data; boundary=cut'))
  }
  const body = (cv: string) => JSON.stringify({ letter: 'Dear', cv })
  type Step = (caller: Caller, paper: Uint8Array<ArrayBuffer>) => Promise<unknown>
  const put: Step = (caller, paper) =>
    wants(caller, hash('sha256', paper), ask('PUT', `/api/applications/${caller.id}/cv`, paper))
  const steps: readonly Step[] = [
    put,
    put,
    look,
    caller => wants(caller, null, ask('PATCH', `/api/applications/${caller.id}`, '{"cv":null}')),
    (_, paper) => upload(paper),
    async (caller, paper) => {
      const id = await upload(paper)
      if (id === undefined) return
      const change = ask('PATCH', `/api/applications/${caller.id}`, body(id))
      await wants(caller, hash('sha256', paper), change)
    },
    async (_, paper) => {
      const id = await upload(paper)
      const made = id && idOf(await ask('POST', '/api/applications', body(id)))
      if (made !== undefined) outcomeOf(await ask('DELETE', `/api/applications/${made}`))
    },
  ]

  const callers: Caller[] = []
  const begin = async () => {
    const id = idOf(await ask('POST', '/api/applications', JSON.stringify({ letter: 'Dear' })))
    callers.push({ id, may: new Set([null]) })
  }
  for (let at = 0; at < count; at++) await begin()
  return {
    /** Has them all do one thing after another until it is over. */
    run: (isOver: () => boolean) =>
      Promise.all(
        callers.map(async caller => {
          while (!isOver()) await oneOf(steps, random)?.(caller, papers[draw(8)] ?? pdf(''))
        }),
      ),
    /** Each once does what must be possible now, and its file is read. */
    lookAll: async () => {
      for (const caller of callers) await look(caller)
    },
    putAll: async () => {
      for (const caller of callers)
        assert.equal(await put(caller, papers[draw(8)] ?? pdf('')), true)
    },
  }
}

type Kept = { readonly rows: Look; readonly store: FileStore }

/** The digests of all files that rows have; fails unless the bytes of each are there, whole. */
export const checkKept = async ({ rows, store }: Kept): Promise<ReadonlySet<string>> => {
  const named = await rows('select cv from applications where cv is not null')
  const files = new Map(
    named.map(([text]) => JSON.parse(String(text))).map(({ digest, bytes }) => [digest, bytes]),
  )
  for (const [digest, bytes] of files) assert.equal(await store.size(digest), bytes, digest)
  return new Set(files.keys())
}

const day = 86_400_000

/** Makes all that is remembered of files older by 40 days, as if that time had passed; what is being removed only where nobody is about it. */
export const pass = async (change: Look, isAll: boolean): Promise<void> => {
  // In this order: a file is never due while its upload is young.
  const time = 40 * day
  await change('update files set collect_at = collect_at - ?1 where collect_at > 0', time)
  if (isAll)
    await change('update files set collect_at = collect_at + ?1 where collect_at < 0', time)
  await change('update uploads set created_at = created_at - ?1', time)
}

/** Collects what is due in a world by some time ahead; gives how many files that were. */
export const collectIn = (
  { engine, core }: Pick<World, 'engine' | 'core'>,
  { looksThrough = false, ahead = 0, isShared = true } = {},
): Promise<number> =>
  collectGarbage(
    {
      ...{ reader: engine, writer: engine, dialect: engine.dialect, store: storeOf(core) },
      ...{ entities: core.model.entities, isShared, now: () => Date.now() + ahead },
    },
    looksThrough,
  )

type Collecting = Omit<Parameters<typeof collectGarbage>[0], 'entities' | 'isShared' | 'now'>

/** Collects all that is due within months; fails unless nothing is left but what rows have. */
export const checkCollected = async (
  collecting: Collecting,
  { rows, store }: Kept,
): Promise<void> => {
  const { entities } = gallery
  for (const days of [40, 80, 120]) {
    const now = () => Date.now() + days * day
    await collectGarbage({ ...collecting, entities, isShared: true, now })
  }
  const named = [...(await checkKept({ rows, store }))].sort()
  const stored = (await Array.fromAsync(store.list())).map(({ digest }) => digest).sort()
  assert.deepEqual(stored, named)
  const known = (await rows('select digest from files')).map(([digest]) => String(digest)).sort()
  assert.deepEqual(known, named)
  assert.deepEqual(await rows('select id from uploads'), [])
}
