/** A content of one kind of row with a field of each kind whose values callers write in several ways. Its migrations are drafted anew each time. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defineContent } from '#content.ts'
import { entity } from '#model/entity.ts'
import {
  choice,
  created,
  date,
  decimal,
  flag,
  folded,
  id,
  int,
  json,
  list,
  money,
  revision,
  type StandardSchema,
  slug,
  text,
  time,
} from '#model/field.ts'
import { defineModel } from '#model/model.ts'
import { anyone } from '#model/policy.ts'
import { historyFor } from '../generated/serve.ts'
import { ownFolder } from './folders.ts'

/** Any JSON. */
const anything: StandardSchema = {
  '~standard': { version: 1, validate: value => ({ value }) },
}

/** What SQL and GraphQL write in other ways. */
const oddWords = [
  ...['plain', 'a "quoted" one', "it's", "'", '"', 'back\\slash', 'two\nlines', '', 'größer'],
  ...['a,b', '(a', 'b)', '[c]', '`d`', 'e;f', '--g', '/*h', '$$', '$1', '%', ' read only ', 'null'],
  ...['true', '__i', '{j}', '#k', '👍', 'x::text', 'not null', 'column y'],
]

const note = entity({
  fields: {
    id: id(),
    name: text({ max: 100 }),
    nameKey: folded('name'),
    plain: text({ max: 100, nullable: true }),
    plainKey: folded('plain', { nullable: true, accents: 'ignored' }),
    slug: slug({ from: 'name', max: 30 }),
    code: text({ max: 40, nullable: true, unique: 'CONFLICT' }),
    email: text({ max: 40, nullable: true }),
    emailKey: folded('email', { nullable: true, unique: 'CONFLICT' }),
    meta: json(anything, { nullable: true }),
    rank: int({ min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, nullable: true }),
    price: money({ max: 1_000_000, nullable: true }),
    ratio: decimal({ scale: 3, min: -1000, max: 1000, nullable: true }),
    ranks: list(int({ min: 0, max: Number.MAX_SAFE_INTEGER }), {
      max: 5,
      initial: { value: '[]' },
    }),
    kind: choice([...oddWords], { initial: { value: 'plain' } }),
    isDone: flag({ initial: { value: 0 } }),
    day: date({ nullable: true }),
    at: time({ nullable: true }),
    createdAt: created(),
    revision: revision(),
  },
  search: { name: 1 },
  before: {
    create: ({ input }) =>
      input.name === 'Rename me' ? { values: { name: 'Renamed' } } : undefined,
  },
  policy: { read: anyone, create: anyone, update: anyone, delete: anyone },
  bulk: true,
})

const entities = defineModel({ note })

const folder = ownFolder('notebook')
for (const engine of ['sqlite', 'postgres'] as const) {
  mkdirSync(join(folder, engine))
  const text = historyFor(engine, entities).at(-1)?.text ?? ''
  writeFileSync(join(folder, engine, '0001-first.sql'), text)
}

export const notebook = defineContent({ entities, migrations: pathToFileURL(`${folder}/`) })
