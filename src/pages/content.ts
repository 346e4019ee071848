/** A page that the content has of its own, with the files that it loads. */
import type { Assets } from './assets.ts'
import type { Page } from './page.ts'

export type ContentPage = {
  readonly path: string
  /** Its own files, by the names under which they are served. */
  readonly assets: Readonly<Record<string, { readonly file: URL; readonly type: string }>>
  readonly page: (assets: Assets) => Promise<Page>
}
