/**
 * Node's `http` and `https`. An import would read every export of them, one of which is `WebSocket`: that loads Node's whole `fetch`, with
 * HTTP/2 and web streams, which takes a fourteenth of a start.
 */
import { createRequire } from 'node:module'

const load = createRequire(import.meta.url)

export const http: typeof import('node:http') = load('node:http')
export const { createServer, ServerResponse, STATUS_CODES } = http

/** Loaded for those alone who speak it. */
export const https = (): typeof import('node:https') => load('node:https')
