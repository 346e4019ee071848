/** Checks a secret before it signs anything: it must be long enough, and not easy to guess. */

// RFC 7518, section 3.2: a key for HS256 has at least the 256 bits of the hash.
const leastBytes = 32
const leastDifferent = 8
const longestRepeat = 15
const leastUnguessed = 16

// Words that people use instead of a secret; a longer word comes before a shorter one that it begins with.
const words =
  `changeme changethis changed change replaceme replace abcdefghijklmnopqrstuvwxyz qwertyuiop qwerty
  asdfghjkl zxcvbnm 01234567890 1234567890 0123456789 9876543210 123456789 12345678 123456 12345 1234 256 128 512 64 32
  supersecret secret private password passwd passphrase pass phrase token jwt hmac hs256 sha256 auth signing sign keys
  key string random insecure secure unsafe safe strong long enough least bits bit bytes byte characters character chars
  should must production prod development dev testing tests test example sample demo default placeholder foobar foo bar
  baz admin root users user server application app api service duet keyboard cat correct horse battery staple letmein
  welcome hello world please that this your with only very super ultra top not for and the use our you my is in at to of
  me be it an a`.split(/\s+/)

const guessed = new RegExp(`(?:${words.join('|')})[-_ .]?`, 'gi')

const repeats = (text: string): boolean => {
  for (let part = 1; part <= longestRepeat; part++)
    if (text.slice(part) === text.slice(0, -part)) return true
  return false
}

/** Why a secret is too weak for HS256; undefined if it is not. Never holds the secret itself. */
const weaknessOf = (secret: string): string | undefined => {
  const bytes = Buffer.byteLength(secret)
  if (bytes < leastBytes) return `it has ${bytes} bytes, and at least ${leastBytes} are needed`
  if (new Set(secret).size < leastDifferent) return 'it is made of a few characters only'
  if (repeats(secret)) return 'it repeats one short part'
  if (secret.replace(guessed, '').length < leastUnguessed) return 'it is made of well-known words'
  return undefined
}

/** The bytes of a strong secret; throws an error with the setting and the remedy for a weak one. */
export const secretBytes = (
  secret: string,
  setting = 'DUET_AUTH_SECRET',
): Uint8Array<ArrayBuffer> => {
  const weakness = weaknessOf(secret)
  if (weakness !== undefined)
    throw new Error(`${setting} is too weak: ${weakness}; make one with: openssl rand -base64 48`)
  return new TextEncoder().encode(secret)
}
