/** Reads the text of a key set from a file or an address, never more of it than a key set needs. */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { traceHeaders } from '#base/traceparent.ts'

const mostBytes = 65_536

const tooLarge = () => new Error(`it has more than ${mostBytes} bytes`)

const textOf = (bytes: Uint8Array): string => {
  if (bytes.length > mostBytes) throw tooLarge()
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
}

/** The text of a file; it blocks, so it is only for the start. */
export const readFileNow = (path: string): string => textOf(readFileSync(path))

/** The text of a file. */
export const readFileText = async (path: string): Promise<string> => textOf(await readFile(path))

/**
 * The body that an address answers with. Rejects with a plain error for anything but 200, for a
 * redirect (which could lead to an address the operator never named), after `timeout` milliseconds,
 * and at the first byte above 64 KiB.
 */
export const readUrlText = async (url: URL, timeout = 5_000): Promise<string> => {
  const response = await fetch(url, {
    redirect: 'error',
    signal: AbortSignal.timeout(timeout),
    headers: { accept: 'application/jwk-set+json, application/json', ...traceHeaders() },
  })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(`it answers ${response.status}`)
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > mostBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return textOf(Buffer.concat(chunks))
}
