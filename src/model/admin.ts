/** What an author says of the admin's screens where what is derived from the model is not what editors need. */
import { keys, must, type Shape, words } from '#base/shape.ts'
import type { Condition } from '#model/condition.ts'

type Place = 'main' | 'side'

type AdminField = {
  readonly label?: string
  /** Among the texts, or at the side with what is short. */
  readonly place?: Place
  /** Whether no screen has it; callers of the APIs do. */
  readonly hidden?: boolean
}

/** A chart of the first screen: how many rows there are in each group, or the sum of a number of theirs. */
type AdminChart<Key extends string> = { readonly group: Key; readonly sum?: Key }

/** What the admin shows of an entity. */
export type AdminOf<Key extends string> = {
  readonly label?: string
  readonly labels?: string
  /** The text that names a row to people. */
  readonly title?: Key
  /** The columns of its list, in their order. */
  readonly columns?: readonly Key[]
  /** The order of its list. */
  readonly order?: Key | `-${Key}`
  /** The heading that it stands below in the menu. */
  readonly group?: string
  /** Whether the menu and the first screen leave it out. */
  readonly hidden?: boolean
  readonly fields?: Readonly<Partial<Record<Key, AdminField>>>
  readonly charts?: readonly AdminChart<Key>[]
}

/** What the admin shows of an action. */
export type AdminOfAction = {
  /** What its button says, in place of its summary. */
  readonly label?: string
  /** Whether its button warns. */
  readonly danger?: boolean
  /** Whether it is offered for several rows at once; it is, unless it has an input. */
  readonly bulk?: boolean
  /** Whether no screen has it. */
  readonly hidden?: boolean
  /** The rows whose screens leave it out although it may be done to them. */
  readonly hiddenWhen?: Condition
}

export const adminShape: Shape = keys<AdminOf<string>>({
  label: 'text',
  labels: 'text',
  title: 'text',
  columns: { each: 'text' },
  order: 'text',
  group: 'text',
  hidden: 'flag',
  fields: {
    named: keys<AdminField>({
      label: 'text',
      place: words<Place>({ main: 1, side: 1 }),
      hidden: 'flag',
    }),
  },
  charts: { each: keys<AdminChart<string>>({ group: must('text'), sum: 'text' }) },
})

export const adminOfActionShape: Shape = keys<AdminOfAction>({
  label: 'text',
  danger: 'flag',
  bulk: 'flag',
  hidden: 'flag',
  hiddenWhen: 'anything',
})
