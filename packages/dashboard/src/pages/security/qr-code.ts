import { type Html, html } from '@postrider/ui'
import { encode } from 'uqr'

/** Modules of white around the code, which readers need (ISO/IEC 18004). */
const QUIET = 3

/** A text as a QR code: SVG, dark on white in both schemes, because many readers refuse the opposite. */
export function qrCode(text: string, label: string): Html {
  const { data, size } = encode(text, { border: QUIET, ecc: 'M' })
  const path = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('')
  return html`<svg role="img" aria-label="${label}" width="200" height="200" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">
    <rect width="${size}" height="${size}" fill="#fff"/><path fill="#000" d="${path}"/></svg>`
}
