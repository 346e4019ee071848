/** The rules by which two contracts are compared, each with its class for what callers send and for what they read. */

/** How much a difference means to callers; the worst is first. */
export const classes = ['breaking', 'risky', 'compatible'] as const

export type DifferenceClass = (typeof classes)[number]

const breaking = { sent: 'breaking', read: 'breaking' } as const
const risky = { sent: 'risky', read: 'risky' } as const
const compatible = { sent: 'compatible', read: 'compatible' } as const
/** A rule that refuses more from senders promises more to readers, and the other way round. */
const tighter = { sent: 'breaking', read: 'compatible' } as const
const looser = { sent: 'compatible', read: 'breaking' } as const
/** The lists of the versioning policy allow it, and a program may yet stumble over it. */
const looserButAllowed = { sent: 'compatible', read: 'risky' } as const

type RuleClasses = {
  readonly sent: DifferenceClass
  readonly read: DifferenceClass
}

export const rules = {
  'member-removed': breaking, // A member is gone.
  'member-renamed': breaking, // A member has another name.
  'member-added': compatible, // A new member, which may be left out of a request.
  'required-member-added': tighter, // A new member that is always there.
  'member-required': tighter, // A member can no longer be left out.
  'member-optional': looser, // A member may be left out.
  'others-refused': tighter, // Members that are not named are refused.
  'others-allowed': compatible, // Members that are not named are allowed.
  'type-changed': breaking, // A value has another type.
  'type-wider': looser, // A value may have one more type.
  'type-narrower': tighter, // A value has fewer types.
  'alternative-added': looser, // A value may have one more form.
  'alternative-removed': tighter, // A value has fewer forms.
  'null-added': looserButAllowed, // A value may be null.
  'null-removed': tighter, // A value is never null.
  'value-added': looserButAllowed, // A new value of a fixed list.
  'value-removed': tighter, // A value of a fixed list is gone.
  'values-opened': looserButAllowed, // Any value instead of a fixed list.
  'values-closed': tighter, // A fixed list instead of any value.
  'limit-tighter': tighter, // A limit of a length, a number or a count is tighter.
  'limit-looser': looserButAllowed, // Such a limit is looser or gone.
  'limit-same': compatible, // A limit that is told or not, and means the same.
  'format-changed': breaking, // A format or a pattern is another.
  'format-added': tighter, // A format or a pattern where there was none.
  'format-removed': looser, // A format or a pattern is gone.
  'default-changed': { sent: 'risky', read: 'compatible' }, // Another value where none is sent.
  'annotation-changed': compatible, // A title, a tag or a text about the document.
  'operation-removed': breaking, // A method of a path is gone.
  'operation-added': compatible, // A new method of a path.
  'operation-renamed': risky, // Another `operationId`, which generated clients call it by.
  'path-parameter-renamed': risky, // Another name in `{}`, which generated clients ask for.
  'parameter-removed': breaking, // A parameter is gone.
  'parameter-added': compatible, // A new parameter that may be left out.
  'required-parameter-added': breaking, // A new parameter that must be sent.
  'parameter-required': breaking, // A parameter can no longer be left out.
  'parameter-optional': compatible, // A parameter may be left out.
  'body-removed': breaking, // An operation takes no body any more.
  'body-added': compatible, // An operation takes a body, which may be left out.
  'required-body-added': breaking, // An operation needs a body.
  'body-required': breaking, // A body can no longer be left out.
  'body-optional': compatible, // A body may be left out.
  'media-type-removed': breaking, // A media type is gone.
  'media-type-added': compatible, // A new media type.
  'status-removed': breaking, // A status below 400 is gone.
  'refusal-removed': compatible, // A status from 400 on is gone.
  'status-added': risky, // A new status.
  'header-removed': breaking, // A header of a response is gone.
  'header-added': compatible, // A new header of a response.
  'header-optional': breaking, // A header of a response is not always there.
  'header-required': compatible, // A header of a response is always there.
  'access-closed': breaking, // A way to be let in is gone.
  'access-eased': compatible, // A way to be let in is gone, and another asks for no more.
  'access-opened': compatible, // A new way to be let in, such as none being needed.
  'openapi-changed': risky, // Another version of OpenAPI, which tools may not read.
  'component-removed': risky, // A name that generated types have is gone.
  'shared-part-removed': compatible, // The name of a shared response, parameter or header is gone.
  'component-added': compatible, // A new name that generated types have.
  'document-removed': breaking, // A whole version is gone.
  'document-added': compatible, // A new version.
  deprecated: compatible, // Announced to go.
  'deprecation-withdrawn': compatible, // No longer announced to go.
  'sunset-set': compatible, // A day from which it may be gone.
  'sunset-later': compatible, // That day is later.
  'sunset-withdrawn': compatible, // That day is taken back.
  'sunset-earlier': breaking, // That day is earlier.
  'sunset-too-soon': breaking, // That day is less than six months ahead.
  'sunset-unreadable': breaking, // That day is not a day as YYYY-MM-DD.
  'removed-after-sunset': compatible, // Gone on the day that was announced, or later.
  'removed-before-sunset': breaking, // Gone before the day that was announced.
  'removed-without-sunset': breaking, // Deprecated, and gone without a day announced.
  unknown: breaking, // A change that no rule knows.
} as const satisfies Readonly<Record<string, RuleClasses>>

export type ContractRule = keyof typeof rules
