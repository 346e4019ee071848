/** The rules by which two contracts are compared, each with its class for what callers send and for what they read. */

/** How much a difference means to callers; the worst is first. */
export const classes = ['breaking', 'risky', 'compatible'] as const

export type DifferenceClass = (typeof classes)[number]

const breaking = { sent: 'breaking', read: 'breaking' } as const
const risky = { sent: 'risky', read: 'risky' } as const
const compatible = { sent: 'compatible', read: 'compatible' } as const
/** What refuses more of what is sent promises more of what is read; and the other way round. */
const tighter = { sent: 'breaking', read: 'compatible' } as const
const looser = { sent: 'compatible', read: 'breaking' } as const
/** The lists of the versioning policy allow it, and a program may yet stumble over it. */
const looserButAllowed = { sent: 'compatible', read: 'risky' } as const

type RuleClasses = {
  readonly sent: DifferenceClass
  readonly read: DifferenceClass
  readonly about: string
}

export const rules = {
  'member-removed': { ...breaking, about: 'a member is gone' },
  'member-renamed': { ...breaking, about: 'a member has another name' },
  'member-added': { ...compatible, about: 'a new member, which may be left out of a request' },
  'required-member-added': { ...tighter, about: 'a new member that is always there' },
  'member-required': { ...tighter, about: 'a member can no longer be left out' },
  'member-optional': { ...looser, about: 'a member may be left out' },
  'others-refused': { ...tighter, about: 'members that are not named are refused' },
  'others-allowed': { ...compatible, about: 'members that are not named are allowed' },
  'type-changed': { ...breaking, about: 'a value has another type' },
  'type-wider': { ...looser, about: 'a value may have one more type' },
  'type-narrower': { ...tighter, about: 'a value has fewer types' },
  'alternative-added': { ...looser, about: 'a value may have one more form' },
  'alternative-removed': { ...tighter, about: 'a value has fewer forms' },
  'null-added': { ...looserButAllowed, about: 'a value may be null' },
  'null-removed': { ...tighter, about: 'a value is never null' },
  'value-added': { ...looserButAllowed, about: 'a new value of a fixed list' },
  'value-removed': { ...tighter, about: 'a value of a fixed list is gone' },
  'values-opened': { ...looserButAllowed, about: 'any value instead of a fixed list' },
  'values-closed': { ...tighter, about: 'a fixed list instead of any value' },
  'limit-tighter': { ...tighter, about: 'a limit of a length, a number or a count is tighter' },
  'limit-looser': { ...looserButAllowed, about: 'such a limit is looser or gone' },
  'limit-same': { ...compatible, about: 'a limit that is told or not, and means the same' },
  'format-changed': { ...breaking, about: 'a format or a pattern is another' },
  'format-added': { ...tighter, about: 'a format or a pattern where there was none' },
  'format-removed': { ...looser, about: 'a format or a pattern is gone' },
  'default-changed': {
    sent: 'risky',
    read: 'compatible',
    about: 'another value where none is sent',
  },
  'annotation-changed': { ...compatible, about: 'a title, a tag or a text about the document' },
  'operation-removed': { ...breaking, about: 'a method of a path is gone' },
  'operation-added': { ...compatible, about: 'a new method of a path' },
  'operation-renamed': {
    ...risky,
    about: 'another `operationId`, which generated clients call it by',
  },
  'path-parameter-renamed': {
    ...risky,
    about: 'another name in `{}`, which generated clients ask for',
  },
  'parameter-removed': { ...breaking, about: 'a parameter is gone' },
  'parameter-added': { ...compatible, about: 'a new parameter that may be left out' },
  'required-parameter-added': { ...breaking, about: 'a new parameter that must be sent' },
  'parameter-required': { ...breaking, about: 'a parameter can no longer be left out' },
  'parameter-optional': { ...compatible, about: 'a parameter may be left out' },
  'body-removed': { ...breaking, about: 'an operation takes no body any more' },
  'body-added': { ...compatible, about: 'an operation takes a body, which may be left out' },
  'required-body-added': { ...breaking, about: 'an operation needs a body' },
  'body-required': { ...breaking, about: 'a body can no longer be left out' },
  'body-optional': { ...compatible, about: 'a body may be left out' },
  'media-type-removed': { ...breaking, about: 'a media type is gone' },
  'media-type-added': { ...compatible, about: 'a new media type' },
  'status-removed': { ...breaking, about: 'a status below 400 is gone' },
  'refusal-removed': { ...compatible, about: 'a status from 400 on is gone' },
  'status-added': { ...risky, about: 'a new status' },
  'header-removed': { ...breaking, about: 'a header of a response is gone' },
  'header-added': { ...compatible, about: 'a new header of a response' },
  'header-optional': { ...breaking, about: 'a header of a response is not always there' },
  'header-required': { ...compatible, about: 'a header of a response is always there' },
  'access-closed': { ...breaking, about: 'a way to be let in is gone' },
  'access-eased': {
    ...compatible,
    about: 'a way to be let in is gone, and another asks for no more',
  },
  'access-opened': { ...compatible, about: 'a new way to be let in, such as none being needed' },
  'openapi-changed': { ...risky, about: 'another version of OpenAPI, which tools may not read' },
  'component-removed': { ...risky, about: 'a name that generated types have is gone' },
  'shared-part-removed': {
    ...compatible,
    about: 'the name of a shared response, parameter or header is gone',
  },
  'component-added': { ...compatible, about: 'a new name that generated types have' },
  'document-removed': { ...breaking, about: 'a whole version is gone' },
  'document-added': { ...compatible, about: 'a new version' },
  deprecated: { ...compatible, about: 'announced to go' },
  'deprecation-withdrawn': { ...compatible, about: 'no longer announced to go' },
  'sunset-set': { ...compatible, about: 'a day from which it may be gone' },
  'sunset-later': { ...compatible, about: 'that day is later' },
  'sunset-withdrawn': { ...compatible, about: 'that day is taken back' },
  'sunset-earlier': { ...breaking, about: 'that day is earlier' },
  'sunset-too-soon': { ...breaking, about: 'that day is less than six months ahead' },
  'sunset-unreadable': { ...breaking, about: 'that day is not a day as YYYY-MM-DD' },
  'removed-after-sunset': { ...compatible, about: 'gone on the day that was announced, or later' },
  'removed-before-sunset': { ...breaking, about: 'gone before the day that was announced' },
  'removed-without-sunset': { ...breaking, about: 'deprecated, and gone without a day announced' },
  unknown: { ...breaking, about: 'a change that no rule knows' },
} as const satisfies Readonly<Record<string, RuleClasses>>

export type ContractRule = keyof typeof rules
