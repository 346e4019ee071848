/** What the tests use of the package, which has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  type Account = { readonly accountId: string; readonly claims: () => object }
  type Configuration = {
    readonly interactions: {
      readonly url: (context: unknown, one: { readonly uid: string }) => string
    }
    readonly findAccount: (context: unknown, sub: string) => Account
    readonly [more: string]: unknown
  }
  export default class Provider {
    constructor(issuer: string, configuration: Configuration)
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
      options: object,
    ): Promise<void>
    readonly Grant: new (of: {
      readonly accountId: string
      readonly clientId: string
    }) => {
      addOIDCScope(scopes: string): void
      save(): Promise<string>
    }
  }
}
