/** A user's picture: which are taken; and the drawn one of a user who has put none. */
import { hash } from 'node:crypto'

/** The types that are accepted. */
export const pictureTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const

/** The largest picture, in bytes. */
export const largestPicture = 512 * 1024

const cells = 5

/** The picture of a user who has put none: an SVG of five by five cells, mirrored, drawn from the id so that it never changes. */
export const identicon = (id: number): string => {
  const bytes = hash('sha256', `avatar ${id}`, 'buffer')
  const hue = ((bytes[0] ?? 0) * 256 + (bytes[1] ?? 0)) % 360
  const squares: string[] = []
  for (let row = 0; row < cells; row++)
    for (let column = 0; column < Math.ceil(cells / 2); column++) {
      if ((bytes[2 + row * 3 + column] ?? 0) % 2 === 0) continue
      for (const x of new Set([column, cells - 1 - column]))
        squares.push(`M${x + 0.5} ${row + 0.5}h1v1h-1z`)
    }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 6 6" width="120" height="120" role="img"><rect width="6" height="6" fill="hsl(${hue},30%,94%)"/><path fill="hsl(${hue},55%,45%)" d="${squares.join('')}"/></svg>`
}
