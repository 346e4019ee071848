/** What a draft for PostgreSQL goes by: the text of the migrations, so that drafting needs no server. */
import type { Drafting } from '#engines/draft.ts'
import type { Migration } from '#engines/migrations.ts'
import { ddl } from '#engines/postgres/schema/ddl.ts'
import { statementsOf } from '#engines/statements.ts'

/** A thing that the migrations have made: its text, and the table that it goes with. */
type Thing = { readonly text: string; readonly of: string | null }

type Things = Map<string, Thing>

/** The parts of a text with commas between them, but for commas within brackets and quotes. */
const parts = (text: string): readonly string[] => {
  const found = ['']
  let depth = 0
  for (const [piece] of text.matchAll(/'(?:[^']|'')*'|"[^"]*"|[(),]|[^'"(),]+/g)) {
    if (piece === '(') depth++
    if (piece === ')') depth--
    if (piece === ',' && depth === 0) found.push('')
    else found[found.length - 1] += piece
  }
  return found.map(part => part.trim())
}

const bare = (name = '') => name.replaceAll('"', '')

const forget = (things: Things, name: string) => {
  things.delete(name)
  for (const [other, { of }] of things) if (of === name) things.delete(other)
}

const rename = (things: Things, from: string, to: string) => {
  const thing = things.get(from)
  if (!thing) return
  things.delete(from)
  things.set(to, thing)
}

const renameTable = (things: Things, from: string, to: string) => {
  rename(things, from, to)
  for (const [name, thing] of [...things]) {
    if (thing.of !== from) continue
    things.set(name, { ...thing, of: to })
    if (name.startsWith(`${from}.`)) rename(things, name, `${to}.${name.slice(from.length + 1)}`)
  }
}

const column = (things: Things, table: string, name: string | undefined) =>
  things.set(`${table}.${bare(name)}`, { text: '', of: table })

type Words = readonly (string | undefined)[]

/** What the actions of an `alter table` do to the things; any other changes no names. */
const actions: readonly (readonly [
  RegExp,
  (things: Things, table: string, words: Words) => void,
])[] = [
  [
    /^add (?!(?:constraint|check|primary|unique|foreign|exclude)\b)(?:column )?(?:if not exists )?("?\w+"?)/i,
    (things, table, [name]) => column(things, table, name),
  ],
  [
    /^drop (?!constraint\b)(?:column )?(?:if exists )?("?\w+"?)/i,
    (things, table, [name]) => things.delete(`${table}.${bare(name)}`),
  ],
  [/^rename to ("?\w+"?)/i, (things, table, [name]) => renameTable(things, table, bare(name))],
  [
    /^rename (?!constraint\b)(?:column )?("?\w+"?) to ("?\w+"?)/i,
    (things, table, [from, to]) => rename(things, `${table}.${bare(from)}`, `${table}.${bare(to)}`),
  ],
]

const alter = (things: Things, table: string, text: string) => {
  for (const part of parts(text))
    for (const [form, act] of actions) {
      const words = form.exec(part)
      if (!words) continue
      act(things, table, words.slice(1))
      break
    }
}

const create = (things: Things, table: string, body: string, text: string) => {
  things.set(table, { text, of: null })
  for (const part of parts(body.slice(0, body.lastIndexOf(')'))))
    if (!/^(primary key|unique|check|constraint|foreign key|exclude|like)\b/i.test(part))
      column(things, table, part.split(/\s/)[0])
}

const drop = (things: Things, names: string, suffix = '') => {
  for (const part of parts(names)) forget(things, `${bare(part.split(/[\s(]/)[0])}${suffix}`)
}

/** The forms of statements that change what there is, each with what it does to the things. */
const forms: readonly (readonly [RegExp, (things: Things, words: Words, text: string) => void])[] =
  [
    [
      /^create (?:unlogged )?table (?:if not exists )?("?\w+"?)\s*\(([\s\S]*)$/i,
      (things, [table, body = ''], text) => create(things, bare(table), body, text),
    ],
    [
      /^create (?:unique )?index (?:concurrently )?(?:if not exists )?("?\w+"?)\s+on ("?\w+"?)/i,
      (things, [name, of], text) => things.set(bare(name), { text, of: bare(of) }),
    ],
    [
      /^create (?:or replace )?function (\w+)\(\)/i,
      (things, [name], text) => things.set(`${name}()`, { text, of: null }),
    ],
    [
      /^create (?:or replace )?trigger (\w+)\s[\s\S]*?\son ("?\w+"?)/i,
      (things, [name = '', of], text) => things.set(name, { text, of: bare(of) }),
    ],
    [
      /^create (?:sequence|extension) (?:if not exists )?("?\w+"?)/i,
      (things, [name], text) => things.set(bare(name), { text, of: null }),
    ],
    [
      /^alter table (?:if exists )?(?:only )?("?\w+"?)\s+([\s\S]*)$/i,
      (things, [table, text = '']) => alter(things, bare(table), text),
    ],
    [
      /^alter index (?:if exists )?("?\w+"?) rename to ("?\w+"?)/i,
      (things, [from, to]) => rename(things, bare(from), bare(to)),
    ],
    [
      /^drop (?:table|index|sequence|extension) (?:concurrently )?(?:if exists )?([\s\S]*)$/i,
      (things, [names = '']) => drop(things, names),
    ],
    [/^drop trigger (?:if exists )?(\w+)/i, (things, [name = '']) => drop(things, name)],
    [
      /^drop function (?:if exists )?([\s\S]*)$/i,
      (things, [names = '']) => drop(things, names, '()'),
    ],
    [/^(insert|update|delete|select|with|lock|set|analyze|vacuum|comment)\b/i, () => {}],
    [/^do\b(?![\s\S]*\b(?:create|alter|drop)\b)/i, () => {}],
  ]

const read = (things: Things, { name }: Migration, text: string) => {
  for (const [form, act] of forms) {
    const words = form.exec(text)
    if (words) return void act(things, words.slice(1), text)
  }
  const [line] = text.split('\n')
  throw new Error(`a draft cannot tell what the migration ${name} makes by: ${line}`)
}

export const postgresDrafting: Drafting = {
  engine: 'postgres',
  madeBy: migrations => {
    const things: Things = new Map()
    for (const migration of migrations)
      for (const text of statementsOf(migration.text)) read(things, migration, text)
    return new Map([...things].map(([name, { text }]) => [name, text]))
  },
  ddl,
  replace: ({ text }) => [text.replace(/^create /, 'create or replace ')],
  apart: ({ text }) => {
    const index = /^create (unique )?index (.*)$/s.exec(text)
    return index && `create ${index[1] ?? ''}index concurrently if not exists ${index[2]}`
  },
}
