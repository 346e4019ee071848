/** What drafts know of SQLite: what migrations make there, which a store in memory tells, and the statements that change what is there. */
import { DatabaseSync } from 'node:sqlite'
import { fillValue, valuesCheck } from '#engines/shared/schema.ts'
import { ddl, objectsIn, objectsText } from '#engines/sqlite/schema.ts'
import type { Drafting } from '#kit/draft/drafting.ts'
import { valuesName } from '#model/model.ts'
import type { Rows } from '#sql/engine.ts'

const alone = '-- breaks: no release before serves a SQLite store that is migrated\n'

const change: Drafting['change'] = (difference, made) => {
  const { table, name } = difference
  const alter = `alter table ${table}`
  const required = `${alone}${alter} alter column ${name} set not null`
  /** The statements between the end and the return of indexes and triggers of the table whose text has this form. */
  const without = (form: RegExp, statements: readonly string[]) => {
    const parts = [...made].filter(
      ([, { text, of }]) =>
        of === table && /^create (unique index|index|trigger) /i.test(text) && form.test(text),
    )
    const drops = parts.map(
      ([part, { text }]) => `drop ${/^create trigger/i.test(text) ? 'trigger' : 'index'} ${part}`,
    )
    return [...drops, ...statements, ...parts.map(([, { text }]) => text)]
  }
  switch (difference.kind) {
    case 'required': {
      const value = fillValue(difference.field, "cast(unixepoch('subsec') * 1000 as integer)")
      const fill = `update ${table} set ${name} = ${value} where ${name} is null`
      return { inside: [...(value ? without(/\bbefore update\b/i, [fill]) : []), required] }
    }
    case 'nullable':
      return { inside: [`${alter} alter column ${name} drop not null`] }
    case 'values': {
      const drop = `${alter} drop constraint ${valuesName(name)}`
      const add = difference.field.values
        ? [`${alter} add ${valuesCheck(name, difference.field)}`]
        : []
      return { inside: difference.isKept ? [drop, ...add] : add }
    }
    case 'reference':
    case 'compared': {
      // SQLite changes no foreign key and no collation: another column takes the place of the one that is there.
      const next = difference.ddl
        .replace(/^\w+/, `next_${name}`)
        .replace(/ not null| default ('.*?'|\S+)/g, '')
      return {
        inside: without(new RegExp(`\\b${name}\\b|\\bbefore update\\b`, 'i'), [
          `${alone}${alter} add column ${next}`,
          `update ${table} set next_${name} = ${name}`,
          `${alter} drop column ${name}`,
          `${alter} rename column next_${name} to ${name}`,
          ...(difference.field.nullable ? [] : [required]),
        ]),
      }
    }
    case 'mended':
      return { inside: difference.statements }
    case 'new':
      return { inside: [difference.definition.text, ...(difference.definition.fill ?? [])] }
    case 'other': {
      const { text, fill = [] } = difference.definition
      const [, kind = 'table'] = /^create (?:unique )?(trigger|index) /.exec(text) ?? []
      return {
        inside: [`drop ${kind} ${name}`, text, ...(kind === 'table' ? fill : [])],
      }
    }
    default:
      return { inside: [`drop ${difference.kind} ${name}`] }
  }
}

/** Tables that SQLite makes by itself, those of a search among them. */
const shadow = /^sqlite_|_(?:data|idx|content|docsize|config)$/

export const sqliteDrafting: Drafting = {
  engine: 'sqlite',
  madeBy: (migrations, base = new Map()) => {
    const database = new DatabaseSync(':memory:')
    for (const [name, { text }] of base)
      if (/^create /i.test(text) && !shadow.test(name)) database.exec(text)
    for (const { text } of migrations) database.exec(text)
    const statement = database.prepare(objectsText)
    statement.setReturnArrays(true)
    const rows = statement.all() as unknown as Rows
    database.close()
    return objectsIn(rows)
  },
  ddl,
  change,
}
