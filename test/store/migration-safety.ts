/**
 * Checks that the previous release can go on while a migration runs, and after it, since it still reads and
 * writes all it knows of. A file that must break it says so with `-- breaks: REASON`.
 */
import { type EngineName, outsideMark, statementsOf } from '#engines/shared/migrations.ts'

type Rule = {
  readonly form: RegExp
  /** What it does to the release before, or what to write instead. */
  readonly fault: string
  /** Statements of that form that do no harm. */
  readonly but?: RegExp
  readonly only?: EngineName
  /** Where the file may have it: one that begins with the mark, or one that does not. */
  readonly outside?: boolean
}

/** `TABLE` in a form is the name of the table that it is about. */
const rules: readonly Rule[] = [
  {
    form: /^drop table (?:if exists )?(?<table>\w+)/i,
    fault: 'drops a table that the release before uses: leave it to a later release',
  },
  {
    form: /^alter table (?:if exists )?(?:only )?(?<table>\w+)[^']*\bdrop (?!constraint\b|default\b|not\b)/i,
    fault: 'drops a column that the release before uses: leave it to a later release',
    but: /\balter (?:column )?\w+ drop (?:default|not null)/i,
  },
  {
    form: /^alter table (?:if exists )?(?:only )?(?<table>\w+)[\s\S]*\brename\b/i,
    fault: 'renames what the release before uses: add the new name and fill it',
    but: /\brename constraint\b/i,
  },
  {
    form: /^alter table (?:if exists )?(?:only )?(?<table>\w+)[\s\S]*\bset not null\b/i,
    fault: 'refuses rows of the release before, which leaves it null: give it a default too',
    but: /\bset default\b/i,
  },
  {
    form: /^alter table (?:if exists )?(?:only )?(?<table>\w+)[\s\S]*\badd (?:column )?[\s\S]*\bnot null\b/i,
    fault: 'refuses rows of the release before, which does not know it: give it a default',
    but: /\bdefault\b|\bcheck\b[\s\S]*\bnot valid\b/i,
  },
  {
    form: /^alter table (?:if exists )?(?:only )?(?<table>\w+)[\s\S]*\b(?:set data )?type\b/i,
    fault: 'changes a type under the release before: add a column of the new type and fill it',
    but: /\badd\b/i,
  },
  {
    form: /^alter table (?:if exists )?(?:only )?(?<table>\w+)[\s\S]*\badd (?:constraint|check|unique|primary|foreign|exclude)\b/i,
    fault: 'is checked with the table closed: add it `not valid`, and validate it in a later file',
    but: /\bnot valid\b/i,
    only: 'postgres',
  },
  {
    form: /^create unique index (?:concurrently )?(?:if not exists )?\w+\s+on (?<table>\w+)/i,
    fault: 'refuses rows that the release before may write twice',
  },
  {
    form: /^create index (?!concurrently)(?:if not exists )?\w+\s+on (?<table>\w+)/i,
    fault: 'keeps writers away while it is made: make it concurrently, outside a transaction',
    only: 'postgres',
  },
  {
    form: /\bconcurrently\b/i,
    fault: 'is not done in a transaction: begin the file with `-- outside a transaction`',
    only: 'postgres',
    outside: false,
  },
  {
    form: /^create /i,
    but: /^create \w+ ?\w* concurrently if not exists\b|^create or replace\b|^create \w+ if not exists\b/i,
    fault: 'cannot be run again after a break: say `if not exists`',
    only: 'postgres',
    outside: true,
  },
  {
    form: /^drop trigger (?:if exists )?(?<again>\w+)/i,
    fault: 'ends what the release before counts on: make it anew in the same file',
  },
]

const made = (statements: readonly string[], what: string): ReadonlySet<string> =>
  new Set(
    statements.flatMap(text => {
      const form = new RegExp(
        `^create (?:or replace )?(?:unlogged )?${what} (?:if not exists )?(\\w+)`,
        'i',
      )
      return form.exec(text)?.[1] ?? []
    }),
  )

/** What a migration file does to the release before, statement by statement; nothing where it says that it does. */
export const faultsOf = (engine: EngineName, text: string): readonly string[] => {
  if (/^-- breaks: \S/m.test(text)) return []
  const statements = statementsOf(text)
  const tables = made(statements, 'table')
  const triggers = made(statements, 'trigger')
  const isOutside = text.startsWith(outsideMark)
  return statements.flatMap(statement =>
    rules.flatMap(({ form, fault, but, only, outside }) => {
      if (only !== undefined && only !== engine) return []
      if (outside !== undefined && outside !== isOutside) return []
      const { table, again } = form.exec(statement)?.groups ?? {}
      const isOwn = tables.has(table ?? '') || triggers.has(again ?? '')
      if (!form.test(statement) || isOwn || but?.test(statement)) return []
      return [`${statement.split('\n')[0]}: ${fault}`]
    }),
  )
}
