/** Who signs in, as a content says it: the fields of its viewers' rows that sign-in reads and writes, and whether strangers may make a row by it. */
import { keys, type Shape, words } from '#base/shape.ts'
import type { Entity } from '#model/entity.ts'
import { type Field, isNeeded } from '#model/field.ts'
import { withArticle, wrong } from '#model/names.ts'
import { alternativesOf, nobody } from '#model/policy.ts'
import type { Viewers } from '#model/viewers.ts'

/** What a content says of sign-in; each field is found by its kind unless it is named. */
export type DeclaredPeople = {
  /** The field of the address that a code is mailed to. */
  readonly email?: string
  /** The field of the name that others see. */
  readonly name?: string
  /** The flag that the address was proved to be theirs. */
  readonly verified?: string
  /** The choice that has the names of the roles. */
  readonly role?: string
  /** The letters of sign-in in the content's own words; ours, where it gives none. */
  readonly mails?: (letter: {
    readonly kind: 'code' | 'reset' | 'moved'
    readonly language: 'en' | 'de'
    readonly title: string
    readonly code: string
    readonly link: string
  }) => { readonly subject: string; readonly text: string; readonly html: string } | undefined
  /** Whether a sign-in makes a row for a stranger; as the create rule lets anonymous callers, unless it is said. */
  readonly signUp?: 'open' | 'closed'
}

/** Sign-in of a content, whole: the entity whose rows sign in, its table, and its fields. */
export type People = Required<Omit<DeclaredPeople, 'mails'>> &
  Pick<DeclaredPeople, 'mails'> & {
    readonly entity: string
    readonly table: string
    /** The folded copy of the address, which no two rows share. */
    readonly emailKey: string
  }

export const peopleShape: Shape = {
  either: [
    'flag',
    keys<DeclaredPeople>({
      email: 'text',
      name: 'text',
      verified: 'text',
      role: 'text',
      mails: 'function',
      signUp: words<'open' | 'closed'>({ open: 1, closed: 1 }),
    }),
  ],
}

/** Sign-in of a content that says so, with the fields that it needs; a plain Error with one sentence says which of them is missing. */
export const peopleOf = (
  entities: Readonly<Record<string, Entity>>,
  { entity: what, by, roles }: Viewers,
  said: boolean | DeclaredPeople | undefined,
): People | undefined => {
  if (said === undefined || said === false) return undefined
  const declared = said === true ? {} : said
  const entity = what === undefined ? undefined : entities[what]
  if (what === undefined || entity === undefined)
    return wrong('people are rows of the entity of viewers: name it there, as entity')
  if (by !== undefined)
    return wrong(
      'people sign in here, and viewers.by is for the tokens of another provider: leave one of them out',
    )
  const { fields, policy } = entity
  const copyOf = (key: string) =>
    Object.keys(fields).find(copy => fields[copy]?.foldedFrom === key && fields[copy]?.unique)
  /** The name of the field that fits: the one that is named, or the only one of its kind; says what is missing if there is none. */
  const fieldOf = (
    named: string | undefined,
    fits: (field: Field, key: string) => boolean,
    remedy: string,
  ): string => {
    const all = Object.entries(fields).filter(([key]) => named === undefined || key === named)
    const [only, other] = all.flatMap(([key, field]) => (fits(field, key) ? [key] : []))
    if (only === undefined)
      return wrong(
        `people sign in by ${what}${named === undefined ? '' : `.${named}`}, which lacks ${remedy}`,
      )
    return other === undefined
      ? only
      : wrong(`people sign in by ${what}, and ${only} and ${other} are both such fields: name one`)
  }
  const email = fieldOf(
    declared.email,
    ({ format, nullable }, key) => format === 'email' && !nullable && copyOf(key) !== undefined,
    "an address with a folded copy that no two rows share: email: email(…) and emailKey: folded('email', { unique: … })",
  )
  const name = fieldOf(
    declared.name ?? 'name',
    ({ scalar, values, foldedFrom }) => scalar === 'text' && !values && foldedFrom === undefined,
    'a name: name: text({ max: 200, … })',
  )
  const verified = fieldOf(
    declared.verified,
    ({ scalar, resetBy, settableBy }) =>
      scalar === 'flag' && resetBy === email && settableBy.kind === 'nobody',
    `a flag that only the service sets and a new address resets: emailVerified: flag({ …, settableBy: nobody, initial: { value: 0 }, resetBy: '${email}' })`,
  )
  const role = fieldOf(
    declared.role,
    ({ values }) => values !== undefined && roles.names.every(one => values.includes(one)),
    `a choice with the names of the roles: role: choice([${roles.names.map(one => `'${one}'`).join(', ')}], …)`,
  )
  if (!fields.revision)
    return wrong(`people sign in by ${what}, which lacks a revision: revision: revision()`)
  const emailKey = copyOf(email) ?? ''
  const given = [email, name, verified, role]
  const needed = Object.entries(fields).find(
    ([key, field]) => isNeeded(key, field) && !given.includes(key),
  )
  const isOpen = alternativesOf(policy.create ?? nobody).some(
    ({ kind, byViewer }) => (kind === 'anyone' || kind === 'while') && !byViewer,
  )
  const { signUp = isOpen && !needed ? 'open' : 'closed', mails } = declared
  if (signUp === 'open' && needed)
    return wrong(
      `people sign up by themselves, and ${withArticle(what)} needs ${needed[0]}, which a sign-up cannot give: give it an initial value, or say signUp: 'closed'`,
    )
  if (signUp === 'open' && !isOpen)
    return wrong(
      `people sign up by themselves, and the create rule of ${what} lets no anonymous caller through: let it be anyone or whileOpen('…'), or say signUp: 'closed'`,
    )
  const found = { entity: what, table: entity.table, email, emailKey, name, verified, role, signUp }
  return mails ? { ...found, mails } : found
}
