/** What a file is: its content, its name and what its sender says must agree, so that no file passes for another kind. */
import { mimes } from 'hono/utils/mime'
import { own } from '#base/object.ts'
import { clipped, steering } from '#base/text.ts'
import { ApiError } from '#errors.ts'
import { headBytes } from '#files/store.ts'

/** Types by the endings of names that Hono does not list. */
const byEnding: Readonly<Record<string, string>> = {
  md: 'text/markdown',
  markdown: 'text/markdown',
  log: 'text/plain',
  text: 'text/plain',
  tsv: 'text/tab-separated-values',
  vcf: 'text/vcard',
  vtt: 'text/vtt',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  doc: 'application/msword',
  xls: 'application/vnd.ms-excel',
  ppt: 'application/vnd.ms-powerpoint',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  odt: 'application/vnd.oasis.opendocument.text',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  odp: 'application/vnd.oasis.opendocument.presentation',
  jar: 'application/java-archive',
  m4a: 'audio/x-m4a',
  m4v: 'video/x-m4v',
  mov: 'video/quicktime',
  mkv: 'video/matroska',
  flac: 'audio/flac',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  heic: 'image/heic',
  jxl: 'image/jxl',
  exe: 'application/x-msdownload',
}

/** Names of one type; the first is the one that we use. */
const synonyms: readonly (readonly string[])[] = [
  ['image/jpeg', 'image/jpg', 'image/pjpeg'],
  ['image/png', 'image/apng', 'image/x-png'],
  ['image/x-icon', 'image/vnd.microsoft.icon'],
  ['image/bmp', 'image/x-ms-bmp'],
  ['audio/mpeg', 'audio/mp3'],
  ['audio/wav', 'audio/x-wav', 'audio/wave', 'audio/vnd.wave'],
  ['audio/midi', 'audio/x-midi', 'audio/mid'],
  ['audio/flac', 'audio/x-flac'],
  ['image/heic', 'image/heif', 'image/heic-sequence', 'image/heif-sequence'],
  ['audio/ogg', 'application/ogg', 'video/ogg', 'audio/opus'],
  ['video/mp4', 'audio/mp4', 'audio/x-m4a', 'video/x-m4v'],
  ['video/webm', 'audio/webm'],
  ['video/matroska', 'video/x-matroska'],
  ['video/x-msvideo', 'video/vnd.avi', 'video/avi'],
  ['application/zip', 'application/x-zip-compressed'],
  ['application/gzip', 'application/x-gzip'],
  ['application/xml', 'text/xml'],
  ['application/rtf', 'text/rtf'],
  ['application/yaml', 'text/yaml', 'application/x-yaml'],
  ['text/javascript', 'application/javascript'],
  ['application/x-msdownload', 'application/x-msdos-program'],
]

const groupOf = (type: string): readonly string[] =>
  synonyms.find(group => group.includes(type)) ?? [type]

/** Types that are an archive of one kind inside, which only their later bytes tell from it. */
const inside: Readonly<Record<string, RegExp>> = {
  'application/zip': /^application\/(?:vnd\.(?:openxmlformats|oasis|ms-)|epub\+zip|java-archive)/,
  'application/x-cfb': /^application\/(?:msword|vnd\.ms-)/,
}

const textual = /^text\/|^application\/(?:json|yaml|manifest\+json)$|\+json$/
const markup: ReadonlySet<string> = new Set([
  'text/html',
  'application/xhtml+xml',
  'image/svg+xml',
  'application/xml',
  'text/xml',
])

const essence = (type = ''): string => (type.split(';', 1)[0] ?? '').trim().toLowerCase()

const typeOfName = (name: string): string | undefined => {
  const ending = /\.([0-9a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''
  const type = own(byEnding, ending) ?? own(mimes as Readonly<Record<string, string>>, ending)
  return type && essence(type)
}

// How browsers recognise a page (WHATWG MIME Sniffing, section 7.1).
const page =
  /^\s*<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[\s>]|^\s*<!--/i
const svg =
  /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*(?:<!doctype svg[^>]*>\s*)?<svg[\s>]/i
const pageInXml = /^\s*(?:<\?xml[^>]*>\s*)(?:<!doctype html[^>]*>\s*)?<html[\s>]/i

const textOf = (head: Uint8Array): string | undefined => {
  try {
    // The last character may go on behind the head.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true })
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}

/** Types whose files may be texts. */
const written = /^text\/|^application\/(?:xml|pdf|rtf|postscript|eps|pgp-encrypted)$|^model\/stl$/

type FileTypes = typeof import('file-type')

/** What the first bytes show: a type, any `text`, or any `binary`. */
const typeOfContent = async (
  { fileTypeFromBuffer }: FileTypes,
  head: Uint8Array,
): Promise<string> => {
  const text = textOf(head)
  const told = await fileTypeFromBuffer(head)
  // Two letters are enough for some types: a text on a BMW is no picture.
  const found = told && text !== undefined && !written.test(told.mime) ? undefined : told
  if (text !== undefined && (found === undefined || found.mime === 'application/xml')) {
    if (svg.test(text)) return 'image/svg+xml'
    if (pageInXml.test(text)) return 'application/xhtml+xml'
    if (page.test(text)) return 'text/html'
    return found === undefined ? 'text' : found.mime
  }
  return found === undefined ? 'binary' : essence(found.mime)
}

/** Whether bytes of that content may be called so. */
const mayBe = ({ supportedMimeTypes }: FileTypes, content: string, type: string): boolean => {
  if (content === 'text') return textual.test(type) || markup.has(type)
  if (content === 'binary') return !textual.test(type) && !supportedMimeTypes.has(type)
  // HTML may stand in Markdown, and any text may begin with the one word that an STL does.
  if (content === 'text/html' && type === 'text/markdown') return true
  if (content === 'model/stl' && textual.test(type)) return true
  return groupOf(content).includes(type) || inside[content]?.test(type) === true
}

/** Contents that may be of many types, each with the type of one that nobody calls otherwise. */
const broad: Readonly<Record<string, string>> = {
  text: 'text/plain',
  binary: 'application/octet-stream',
}

/** The names of the media type of a file by its first bytes alone, the usual one first. */
export const typesOfBytes = async (first: Uint8Array): Promise<readonly string[]> => {
  const content = await typeOfContent(await import('file-type'), first.subarray(0, headBytes))
  return groupOf(broad[content] ?? content)
}

const disagreeing = (why: string) => new ApiError('UNSUPPORTED_MEDIA_TYPE', `The file ${why}`)

/** What a file is beside its type, which another program could take it for; undefined for most. */
const secondTypeOf = (type: string, head: Uint8Array): string | undefined => {
  const start = Buffer.from(head.subarray(0, 1024)).toString('latin1')
  if (type.startsWith('image/') && !markup.has(type))
    return /<(?:!doctype html|html|script|svg|body|iframe)[\s>]/i.test(start) ? 'a page' : undefined
  if (type === 'application/pdf') return start.includes('PK\x03\x04') ? 'a ZIP archive' : undefined
  return start.indexOf('%PDF-') > 0 && type !== 'text/plain' ? 'a PDF' : undefined
}

/** A media type (RFC 6838, section 4.2), which may stand in a header. */
const typeForm = /^[a-z\d][\w!#$&^.+-]{0,126}\/[a-z\d][\w!#$&^.+-]{0,126}$/

/** What senders say that do not know the type. */
const unsaid: ReadonlySet<string> = new Set([
  '',
  'application/octet-stream',
  'binary/octet-stream',
  'application/x-www-form-urlencoded',
])

/**
 * The media type of a file by its first bytes, of which `headBytes` count, its name and the `Content-Type` it was sent with. Throws
 * `UNSUPPORTED_MEDIA_TYPE` where these disagree, or where it is of two types at once.
 */
export const typeOf = async (
  first: Uint8Array,
  name: string,
  declared: string | undefined,
): Promise<string> => {
  // However many came at once, a file is of one type.
  const head = first.subarray(0, headBytes)
  // Loaded with the first file, as it brings forty modules.
  const types = await import('file-type')
  const content = await typeOfContent(types, head)
  const usual = broad[content]
  const [byName, byHeader] = [typeOfName(name), essence(declared)]
  if (!unsaid.has(byHeader) && !typeForm.test(byHeader))
    throw disagreeing('has a Content-Type that is no media type: send one such as image/png')
  const said = [
    [`its name, ${clipped(JSON.stringify(name), 100)},`, byName],
    ['its Content-Type', unsaid.has(byHeader) ? undefined : byHeader],
  ] as const
  for (const [by, type] of said)
    if (type !== undefined && type !== broad.binary && !mayBe(types, content, type))
      throw disagreeing(
        `is ${clipped(type, 100)} by ${by} and ${usual === undefined ? content : content === 'text' ? 'text' : 'of no known type'} by its content: send it as what it is`,
      )
  const [named, sent] = said.map(([, type]) => type)
  if (usual !== undefined && named && sent && !groupOf(named).includes(sent))
    throw disagreeing(
      `is ${named} by its name and ${clipped(sent, 100)} by its Content-Type: send it as one of them`,
    )
  const isOpen = usual !== undefined || inside[content] !== undefined
  const type = named ?? (isOpen ? sent : undefined) ?? usual ?? groupOf(content)[0] ?? content
  const second = secondTypeOf(type, head)
  if (second !== undefined)
    throw disagreeing(`is ${type} and ${second} at once: send one that is only ${type}`)
  return type
}

const longestName = 200

/**
 * A name as it is kept and shown: without folders, without characters that steer a terminal or turn the direction of text, and of at
 * most 200 characters with its ending.
 */
export const safeName = (given: string): string => {
  const base = given.normalize('NFC').replace(steering, '').split(/[/\\]/).at(-1)
  const name = (base ?? '').trim().replace(/^\.+$/, '')
  const characters = [...name]
  if (characters.length <= longestName) return name || 'file'
  const ending = /\.[^.\s]{1,20}$/u.exec(name)?.[0] ?? ''
  return `${characters.slice(0, longestName - [...ending].length).join('')}${ending}`
}
