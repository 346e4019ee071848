/** What a store has, in one form for both engines: read from the catalogue of a database, or from the text of statements that make it. */

/** Something that statements have made: its text, and the table that it belongs to; empty for a table itself. */
export type MadeObject = {
  readonly text: string
  readonly of: string
  /** The statement that mends it; only a flaw has one, and its text says what is wrong. */
  readonly mend?: string
}

/** What statements have made, by name: a column is `table.column`, a constraint `table#name`, a rule `table?name`, a flaw of a table `table!what`. */
export type MadeObjects = ReadonlyMap<string, MadeObject>

export type StoredColumn = {
  /** In small letters, with the collation of a text that names one. */
  readonly type: string
  readonly isRequired: boolean
  /** Whether a row that leaves it out gets a value: by a default, or because the database makes it. */
  readonly hasValue: boolean
  /** The formula of one that the database computes; empty for any other. */
  readonly formula: string
  /** Its definition in small letters, without what is in brackets. */
  readonly text: string
}

type StoredCheck = { readonly name: string; readonly text: string }

/** What is wrong with a table as a whole or with a part of it, and the statement that mends it, if one does; a remedy for a person begins with `-- `. */
type Flaw = { readonly what: string; readonly text: string; readonly mend: string | undefined }

export type StoredTable = {
  readonly isView: boolean
  readonly text: string
  readonly columns: Map<string, StoredColumn>
  readonly references: {
    readonly name: string
    readonly column: string
    readonly table: string
    readonly onDelete: string
  }[]
  /** Each with what it is on, such as `category, price desc`. */
  readonly indexes: {
    readonly name: string
    readonly terms: string
    readonly isUnique: boolean
    readonly text: string
  }[]
  readonly checks: StoredCheck[]
  /** Each with its text, and that of the function that it calls, if it calls one. */
  readonly triggers: {
    readonly name: string
    readonly text: string
    readonly calls: string | undefined
  }[]
  /** The names of rules that rewrite statements, and of constraints that exclude rows. */
  readonly rules: string[]
  readonly exclusions: string[]
  readonly flaws: Flaw[]
}

/** The tables and views of a store by their names. */
export type Catalogue = ReadonlyMap<string, StoredTable>

/** A statement without what a form finds outside its texts, such as the quotes around names. */
export const outsideTexts = (statement: string, form: RegExp): string =>
  statement.replace(new RegExp(`'(?:[^']|'')*'|${form.source}`, 'gi'), piece =>
    /^'.*'$/s.test(piece) ? piece : '',
  )

/** The parts of a text between commas, except commas within brackets and quotes. */
export const splitByCommas = (text: string): readonly string[] => {
  const found = ['']
  let depth = 0
  for (const [piece] of text.matchAll(/'(?:[^']|'')*'|[(),]|[^'(),]+/g)) {
    if (piece === '(') depth++
    if (piece === ')') depth--
    if (piece === ',' && depth === 0) found.push('')
    else found[found.length - 1] += piece
  }
  return found.map(part => part.trim())
}

/** Adds a part of a table, a column or a constraint; a constraint without a name gets that of its text. */
export const addPart = (objects: Map<string, MadeObject>, table: string, text: string): void => {
  const isConstraint = /^(primary key|unique|check|constraint|foreign key|exclude|like)\b/i.test(
    text,
  )
  const name = isConstraint
    ? `#${/^constraint (\w+)/i.exec(text)?.[1] ?? text}`
    : `.${text.split(/\s/)[0]}`
  objects.set(table + name, { text, of: table })
}

/** Adds what a `create table` makes, given what follows its first bracket: the table, its columns and constraints. */
export const addTable = (
  objects: Map<string, MadeObject>,
  table: string,
  body: string,
  text: string,
): void => {
  objects.set(table, { text, of: '' })
  // What PostgreSQL may have behind the last bracket of the columns has brackets too.
  const columns = body.replace(/\)\s*with\s*\([^()]*\)\s*$/i, ')')
  for (const part of splitByCommas(columns.slice(0, columns.lastIndexOf(')'))))
    addPart(objects, table, part)
}

// What is within brackets, which may be nested a few times.
const piece = `'(?:[^']|'')*'|[^()']`
const inBrackets = Array.from({ length: 4 }).reduce<string>(
  inner => `(?:${piece}|\\(${inner}\\))*`,
  `(?:${piece})*`,
)
export const checkForm = new RegExp(
  `(?:\\bconstraint\\s+(\\w+)\\s+)?\\bcheck\\s*\\((${inBrackets})\\)`,
  'gi',
)

const withoutBrackets = (text: string): string => {
  const shorter = text.replace(/'(?:[^']|'')*'/g, "''").replace(/\([^()]*\)/g, ' ')
  return shorter === text ? text : withoutBrackets(shorter)
}

/** The checks in a text, each with its name. */
export const checksIn = (text: string): readonly StoredCheck[] =>
  [...text.matchAll(checkForm)].map(([, name = '', check = '']) => ({ name, text: check }))

/** The name of a check without one, as PostgreSQL gives it. */
export const checkName = (table: string, column: string): string =>
  column === '' ? `${table}_check` : `${table}_${column}_check`

/** The name and the type with which the text of a column begins. */
export const typeForm =
  /^(\w+) ?(.*?)(?=$| (?:not|null|default|check|references|unique|primary|generated|constraint)\b)/i

/** Types that have another name too. */
const otherNames: Readonly<Record<string, string>> = {
  int: 'integer',
  int2: 'smallint',
  int8: 'bigint',
}

const generatedForm = /\bgenerated always as (\([\s\S]*\)) (?:stored|virtual)/i

/** The catalogue of what statements have made. */
export const catalogueOf = (objects: MadeObjects): Catalogue => {
  const tables = new Map<string, StoredTable>()
  for (const [name, { text, of }] of objects) {
    const [, kind] = /^create (?:\w+ )*?(table|view) /i.exec(text) ?? []
    const parts = { references: [], indexes: [], checks: [], triggers: [] }
    const more = { rules: [], exclusions: [], flaws: [] }
    if (of === '' && kind !== undefined)
      tables.set(name, { isView: /view/i.test(kind), text, columns: new Map(), ...parts, ...more })
  }
  for (const [name, { text, of, mend }] of objects) {
    const table = tables.get(of)
    if (!table) continue
    const within = name.slice(of.length + 1)
    if (name.startsWith(`${of}!`)) table.flaws.push({ what: within, text, mend })
    if (name.startsWith(`${of}?`)) table.rules.push(within)
    const [, isUnique, terms = '', rest = ''] =
      /^create (unique )?index [^(]*\(([\s\S]*)\)([^)]*)$/i.exec(text) ?? []
    const isPart = /\bwhere\b/i.test(terms + rest)
    if (terms)
      table.indexes.push({
        name: name.replace(/^.*\./, ''),
        terms: terms.replace(/\s+/g, ' ') + (isPart ? ' where …' : ''),
        isUnique: isUnique !== undefined,
        text,
      })
    const [, called = ''] = /\bexecute (?:function|procedure) (\w+\(\))/i.exec(text) ?? []
    // PostgreSQL has triggers of one name on several tables.
    if (/^create (?:\w+ )*?trigger /i.test(text))
      table.triggers.push({
        name: name.replace(/^.* /, ''),
        text,
        calls: objects.get(called)?.text,
      })
    const isColumn = name.startsWith(`${of}.`)
    if (terms || !(isColumn || name.startsWith(`${of}#`))) continue

    // A constraint that is not enforced is none.
    if (/\bnot enforced\b/i.test(text)) continue
    if (/^(?:constraint \w+ )?exclude\b/i.test(text)) table.exclusions.push(within)
    const column = isColumn ? within : ''
    for (const check of checksIn(text))
      table.checks.push({ ...check, name: check.name || checkName(of, column) })
    const bare = withoutBrackets(text).replace(/\s+/g, ' ').trim().toLowerCase()
    const [, listed = ''] = /\b(?:unique|foreign key)\s*\(([^)]*)\)/i.exec(text) ?? []
    const columns = column || listed.replace(/\s+/g, ' ')
    const [, target] = /\breferences (\w+)/.exec(bare) ?? []
    // A model has references by one field, and to ids alone.
    if (target !== undefined && columns.includes(',')) table.exclusions.push(within)
    const [, key] = /\breferences\s+\w+\s*\(\s*(\w+)/i.exec(text) ?? []
    const [, onDelete = 'no action'] =
      /\bon delete (cascade|restrict|set null|set default)/.exec(bare) ?? []
    const isLate = /(?<!\bnot )\bdeferrable\b/.test(bare)
    if (target !== undefined)
      table.references.push({
        name: within,
        column: columns,
        table: (key ?? 'id').toLowerCase() === 'id' ? target : `${target} (${key})`,
        onDelete: isLate ? `${onDelete} deferrable` : onDelete,
      })
    if (/\bunique\b/.test(bare)) {
      const [, named] = /\bconstraint (\w+) unique\b/.exec(bare) ?? []
      const usual = `${of}_${columns.replaceAll(', ', '_')}_key`
      const index = named ?? usual
      const made = `create unique index ${index} on ${of} (${columns})`
      table.indexes.push({ name: index, terms: columns, isUnique: true, text: made })
    }
    const [, primary = ''] = /\bprimary key\s*\((\w+)\)/i.exec(text) ?? []
    const keyed = table.columns.get(primary)
    if (keyed)
      table.columns.set(primary, { ...keyed, text: `${keyed.text} primary key`, isRequired: true })
    const [, , type = ''] = typeForm.exec(bare) ?? []
    // SQLite takes a collation behind anything else too.
    const [late = ''] = type.includes('collate') ? [] : (/ collate \w+/.exec(bare) ?? [])
    if (isColumn)
      table.columns.set(column, {
        type: (otherNames[type] ?? type) + late,
        isRequired: /\b(?:not null|primary key)\b/.test(bare),
        hasValue: /\b(?:default|generated|primary key)\b/.test(bare),
        formula: generatedForm.exec(text)?.[1] ?? '',
        text: bare,
      })
  }
  return tables
}

/** The texts that a check names. */
export const textsOf = (check: string): readonly string[] => check.match(/'(?:[^']|'')*'/g) ?? []

/** A formula in one form for each way to write it: its names, numbers, texts and signs in order, without brackets and casts. */
export const plainFormula = (formula: string): string => {
  const bare = formula
    .replace(/["`[\]]/g, '')
    .replace(/::(?:character varying|\w+)/g, '')
    .replace(/\bcast\(([^()]*) as text\)/gi, '$1')
    .replace(/'(-?\d+)'/g, '$1')
  const words = bare.match(/'(?:[^']|'')*'|\w+|[^\s\w()]+/g) ?? []
  return words.join(' ').toLowerCase()
}

const eventsForm = new RegExp(
  '(?<=^trigger (?:before|after) )EVENT(?: or EVENT)*'.replaceAll(
    'EVENT',
    '(?:insert|delete|truncate|update(?: of \\w+(?:, \\w+)*)?)',
  ),
  'i',
)

/** The text of an index, a trigger, a function or a search in the form that is compared: without its name, and how it was made. */
export const shapeOf = (text: string): string => {
  const plain = text
    .replace(/\s+|"/g, space => (space === '"' ? '' : ' '))
    .replace(
      /^create (?:or replace )?(unique )?(index|trigger|function|virtual table) (?:concurrently )?(?:if not exists )?\w+/i,
      (_, unique: string | undefined, kind: string) => `${unique ?? ''}${kind}`.toLowerCase(),
    )
  // PostgreSQL prints what it has understood: with casts, brackets, and what is usual.
  if (!/^(?:unique )?index\b|^trigger\b.* execute (?:function|procedure) /i.test(plain))
    return plain
  const usual = / using btree\b| with \([^()]*\)$|(?<= )\w+\.(?=gin_trgm_ops\b)/gi
  const alike = plain
    .replace(usual, '')
    .replace(' execute procedure ', ' execute function ')
    .replace(eventsForm, events => events.toLowerCase().split(' or ').sort().join(' or '))
  return plainFormula(alike)
}

/** What a check is about, the same for each way to write it, of null or not: its names, numbers and texts, without casts and words that only join them. */
export const gistOf = (check: string): string => {
  const plain = check
    .replace(/::(?:character varying|\w+)(?:\[\])?/g, '')
    .replace(/'(-?\d+)'/g, '$1')
  const words = plain.match(/'(?:[^']|'')*'|\w+|<>|!=/g) ?? []
  const said = words.filter(
    word => !/^(?:any|array|in|between|and|or|is|null|collate|C)$/i.test(word),
  )
  return [...new Set(said)].sort().join(' ')
}
