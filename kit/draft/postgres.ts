/** What drafts know of PostgreSQL: what the text of migrations makes there, and the statements that change what is there. */
import { appendOnlyTrigger, ddl } from '#engines/postgres/schema.ts'
import {
  addPart,
  addTable,
  checkForm,
  checkName,
  type MadeObject,
  outsideTexts,
  splitByCommas,
  typeForm,
} from '#engines/shared/catalogue.ts'
import { statementsOf } from '#engines/shared/migrations.ts'
import { defaultValue, fillValue, valuesCheck } from '#engines/shared/schema.ts'
import type { Drafting } from '#kit/draft/drafting.ts'
import { valuesName } from '#model/model.ts'

/** A text without its check of that name; empty: without those that have none. */
const withoutCheck = (text: string, name: string): string =>
  text.replace(checkForm, (check, own = '') => (own === name ? '' : check))

/** Words and signs that do not change which objects a statement is about. */
const fillers =
  /"|\b(?:if not exists|if exists|or replace|unlogged|concurrently|only|column)\s|\bunique (?=index\b)/gi

const identityForm = / generated (?:always|by default|otherwise) as identity(?: ?\([^()]*\))?/i

/** What statements do to the objects that were made before them. */
const changesOf = (objects: Map<string, MadeObject>) => {
  const rename = (from: string, to: string) => {
    const object = objects.get(from)
    if (!object) return
    objects.delete(from)
    objects.set(to, object)
  }
  const renameTable = (from: string, to: string) => {
    rename(from, to)
    for (const [name, object] of [...objects]) {
      if (object.of !== from) continue
      objects.set(name, { ...object, of: to })
      if (/^\w+[.#]/.test(name)) rename(name, to + name.slice(from.length))
    }
  }
  const create = (name: string, of: string, text: string) => void objects.set(name, { text, of })
  /** Changes the text of a column. */
  const rewrite = (table: string, column: string, change: (text: string) => string) => {
    const object = objects.get(`${table}.${column}`)
    if (object) create(`${table}.${column}`, table, change(object.text))
  }
  const alterColumn = (table: string, column: string, action: string) => {
    const [, type] = /^(?:set data )?type (.*?)(?: using\b.*)?$/i.exec(action) ?? []
    const [, value] = /^set (default .*)$/i.exec(action) ?? []
    rewrite(table, column, text => {
      if (type !== undefined) return text.replace(typeForm, `$1 ${type}`)
      if (value !== undefined) return `${text} ${value}`
      if (/^set not null/i.test(action)) return `${text} not null`
      const [, identity] =
        /^(?:add|set) (generated (?:always|by default)( as identity)?)/i.exec(action) ?? []
      if (identity !== undefined)
        return `${text.replace(identityForm, '')} ${identity.replace(/ as identity$/i, '')} as identity`
      if (/^drop identity/i.test(action)) return text.replace(identityForm, '')
      return text.replace(
        /^drop not null/i.test(action) ? / not null\b/i : / default ('.*?'|\S+)/i,
        '',
      )
    })
  }
  const dropConstraint = (table: string, name: string) => {
    objects.delete(`${table}#${name}`)
    for (const [key, { of }] of objects) {
      if (name === `${table}_pkey` && key.startsWith(`${table}#primary key`)) objects.delete(key)
      if (name === checkName(table, '') && key.startsWith(`${table}#check`)) objects.delete(key)
      if (of !== table || !key.startsWith(`${table}.`)) continue
      const column = key.slice(table.length + 1)
      rewrite(table, column, text => {
        const left = withoutCheck(text, name === checkName(table, column) ? '' : name)
        if (name === `${table}_pkey`) return left.replace(/ primary key\b/i, '')
        return name === `${table}_${column}_fkey` ? left.replace(/ references \w+.*$/i, '') : left
      })
    }
  }
  const drop = (names: string, suffix = '') => {
    for (const part of splitByCommas(names)) {
      const dropped = `${part.split(/[\s(]/)[0]}${suffix}`
      objects.delete(dropped)
      for (const [name, { of }] of objects) if (of === dropped) objects.delete(name)
    }
  }
  return { objects, rename, renameTable, create, rewrite, alterColumn, dropConstraint, drop }
}

/** Statements or parts of them by their form, with the change of the objects, given the two words that the form has matched. */
type StatementForms = readonly (readonly [
  form: RegExp,
  act: (first: string, second: string, text: string) => void,
])[]
/** Acts by the first form that matches; false if none does. */
const actOn = (forms: StatementForms, plain: string, text: string): boolean =>
  forms.some(([form, act]) => {
    const found = form.exec(plain)
    if (found) act(found[1] ?? '', found[2] ?? '', text)
    return found !== null
  })

/** The actions of `alter table`; others change no names. */
const actionsOn = (made: ReturnType<typeof changesOf>, table: string): StatementForms => {
  const { objects, rename, renameTable, rewrite } = made
  return [
    [/^add ([\s\S]*)$/i, part => addPart(objects, table, part)],
    [/^drop constraint (\w+)/i, name => made.dropConstraint(table, name)],
    [/^drop (\w+)/i, name => objects.delete(`${table}.${name}`)],
    [/^alter (\w+) ([\s\S]*)$/i, (column, action) => made.alterColumn(table, column, action)],
    [/^rename to (\w+)/i, to => renameTable(table, to)],
    [
      /^rename constraint (\w+) to (\w+)/i,
      (from, to) => rename(`${table}#${from}`, `${table}#${to}`),
    ],
    [
      /^rename (\w+) to (\w+)/i,
      (from, to) => {
        rename(`${table}.${from}`, `${table}.${to}`)
        // Its type may be a word that is also its name, such as text.
        const [name, own] = [new RegExp(`\\b${from}\\b`, 'g'), new RegExp(`^${from} (\\w+)`)]
        rewrite(table, to, text => {
          const [, type = ''] = own.exec(text) ?? []
          const rest = type === '' ? text : text.slice(from.length + 1 + type.length)
          return `${type && `${to} ${type}`}${rest.replaceAll(name, to)}`
        })
        // Formulas name the column as it is called now; what is in quotes stays.
        const named = new RegExp(`'(?:[^']|'')*'|\\b${from}\\b`, 'g')
        const renamed = (formula: string) =>
          formula.replace(named, piece => (piece === from ? to : piece))
        for (const [key, { of }] of objects)
          if (of === table && key.startsWith(`${table}.`) && key !== `${table}.${to}`)
            rewrite(table, key.slice(table.length + 1), text =>
              text.replace(/ generated always as \([\s\S]*/i, renamed),
            )
      },
    ],
  ]
}

/** The statements that make, rename or drop objects, and those that change none. */
const formsFor = (made: ReturnType<typeof changesOf>): StatementForms => {
  const { objects, create, rename, drop } = made
  const alter = (table: string, text: string) => {
    const actions = actionsOn(made, table)
    for (const part of splitByCommas(text)) actOn(actions, part, part)
  }
  return [
    [
      /^create table (\w+)\s*\(([\s\S]*)$/i,
      (table, body, text) => addTable(objects, table, body, text),
    ],
    [
      /^create rule (\w+) as [\s\S]*? to (\w+)/i,
      (name, of, text) => create(`${of}?${name}`, of, text),
    ],
    [/^drop rule (\w+) on (\w+)/i, (name, of) => objects.delete(`${of}?${name}`)],
    [/^create (?:view|sequence|extension) (\w+)/i, create],
    [/^create function (\w+\(\))/i, create],
    [/^create (?:index|trigger) (\w+)[\s\S]*?\son (\w+)/i, create],
    [/^alter table (\w+)\s+([\s\S]*)$/i, alter],
    [/^alter index (\w+) rename to (\w+)/i, rename],
    [/^drop (?:table|view|index|sequence|extension|trigger) ([\s\S]*)$/i, names => drop(names)],
    [
      /^drop function ([\s\S]*)$/i,
      names => {
        const called = splitByCommas(names).map(part => part.split(/[\s(]/)[0])
        const form = new RegExp(
          `^create .*\\btrigger\\b.* execute function (?:${called.join('|')})\\(`,
          'is',
        )
        if (/\bcascade\b/i.test(names))
          for (const [name, { text }] of [...objects]) if (form.test(text)) drop(name)
        drop(names, '()')
      },
    ],
    [/^(insert|update|delete|select|with|lock|set|analyze|vacuum|comment)\b/i, () => {}],
    [/^do\b(?![\s\S]*\b(?:create|alter|drop)\b)/i, () => {}],
  ]
}

/** Reads from the text of the migrations what they make, so that drafting needs no server; flaws are only seen in a store. */
const madeBy: Drafting['madeBy'] = (migrations, base = new Map()) => {
  const objects = new Map<string, MadeObject>(base)
  const forms = formsFor(changesOf(objects))
  for (const { name, text } of migrations)
    for (const statement of statementsOf(text)) {
      const isFunction = /^(?:create (?:or replace )?function|do)\b/i.test(statement)
      const plain = isFunction ? statement.replace(fillers, '') : outsideTexts(statement, fillers)
      if (actOn(forms, plain, statement)) continue
      const [line] = statement.split('\n')
      throw new Error(`a draft cannot tell what the migration ${name} makes by: ${line}`)
    }
  return objects
}

/** A statement that fails where a unique index could not be made; none for another index. */
const guardsOf = (table: string, name: string, text: string): readonly string[] => {
  const [, columns] = /^create unique index \w+ on \w+ \((.*)\)$/.exec(text) ?? []
  if (columns === undefined) return []
  const filled = columns.split(', ').map(column => `${column} is not null`)
  return [
    `do $$\nbegin\n  if exists (select from ${table} where ${filled.join(' and ')} group by ${columns} having count(*) > 1) then
    raise unique_violation using message = 'rows of ${table} break the constraint ${name}';\n  end if;\nend\n$$`,
  ]
}

const change: Drafting['change'] = difference => {
  const { table, name } = difference
  const alter = `alter table ${table}`
  switch (difference.kind) {
    case 'required': {
      const value = fillValue(difference.field, '(extract(epoch from now()) * 1000)::bigint')
      const given = defaultValue(difference.field)
      const fill = `update ${table} set ${name} = ${value} where ${name} is null`
      const lock = `trigger ${appendOnlyTrigger(table)}`
      const filled = difference.isLocked
        ? [`${alter} disable ${lock}`, fill, `${alter} enable ${lock}`]
        : [fill]
      const set = `alter column ${name} set not null`
      const last = given
        ? `${alter} alter column ${name} set default ${given}, ${set}`
        : `-- breaks: the release before must be stopped, if it leaves ${name} out\n${alter} ${set}`
      return { inside: [...(value ? filled : []), last] }
    }
    case 'nullable':
      return { inside: [`${alter} alter column ${name} drop not null`] }
    case 'compared':
      return {
        inside: [
          `-- breaks: the release before waits while its indexes are made anew\n${alter} alter column ${name} type ${ddl.typeOf(difference.field)}`,
        ],
      }
    case 'values':
    case 'reference': {
      const [target] = /references .*$/.exec(difference.ddl) ?? []
      const isValues = difference.kind === 'values'
      const constraint = isValues ? valuesName(name) : `${table}_${name}_fkey`
      const key = target && `constraint ${constraint} foreign key (${name}) ${target}`
      const added = isValues ? valuesCheck(name, difference.field) : key
      const drop = `drop constraint if exists ${constraint}`
      if (!added) return { inside: [`${alter} ${drop}`] }
      // At once, so that nothing stays where rows are in the way.
      if (difference.isNarrower)
        return {
          inside: [
            `-- breaks: the release before may write what ${constraint} refuses, and waits while all rows are read\n${alter} ${drop}, add ${added}`,
          ],
        }
      return {
        inside: [`${alter} ${drop}, add ${added} not valid`],
        outside: [`${alter} validate constraint ${constraint}`],
      }
    }
    case 'mended': {
      const { statements } = difference
      // It reads all rows beside all work.
      const validates = statements.some(one => / validate constraint /.test(one))
      return validates ? { outside: statements } : { inside: statements }
    }
    case 'index':
      return { outside: [`drop index concurrently if exists ${name}`] }
    // Searches are tables on SQLite alone.
    case 'table':
      return {}
    case 'trigger':
      return { inside: [`drop trigger ${name} on ${table}`, `drop function ${name}()`] }
    default: {
      const { definition, kind } = difference
      const { text, fill = [] } = definition
      const isOther = kind === 'other'
      if (!/^create (unique )?index /.test(text))
        return {
          inside: isOther ? [text.replace(/^create /, 'create or replace ')] : [text, ...fill],
        }
      const made = text.replace(' index ', ' index concurrently if not exists ')
      const guards = guardsOf(table, name, text)
      if (!isOther) return { outside: [made], guards }
      // The new one first, so that its readers are never without.
      const next = `next_${name}`
      const dropped = `drop index concurrently if exists ${name}`
      const renamed = `alter index ${next} rename to ${name}`
      return { outside: [made.replace(` ${name} `, ` ${next} `), dropped, renamed], guards }
    }
  }
}

export const postgresDrafting: Drafting = { engine: 'postgres', madeBy, ddl, change }
