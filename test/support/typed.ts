/** The types that docs/clients.md has made of an OpenAPI document. */
import { registerHooks } from 'node:module'

// openapi-typescript writes with the compiler of TypeScript 5, which TypeScript 7 has not.
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === 'typescript' ? '@ts-morph/common/dist/typescript.js' : specifier, context),
})

/** The source that `npx openapi-typescript` writes for a document. */
export const typesOf = async (document: object): Promise<string> => {
  const { default: make, astToString } = await import('openapi-typescript')
  return astToString(await make(JSON.stringify(document)))
}
