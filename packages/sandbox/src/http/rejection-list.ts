import { MAX_REJECTIONS, type Rejections } from '../smtp/rejections.ts'
import { type Query, searchOf, text } from './page-kit.ts'

/** The recipients that were rejected, as JSON, the newest first. */
export function rejectionList(rejections: Rejections, query: unknown) {
  const fields = query as Query
  const most = /^[1-9]\d{0,3}$/.test(text(fields.limit)) ? Math.min(Number(fields.limit), MAX_REJECTIONS) : 50
  const found = rejections.find({ q: searchOf(fields), before: text(fields.before), limit: most })
  return {
    ...found,
    rejections: found.rejections.map(({ id, at, from, to, reply }) => ({
      id,
      at: at.toISOString(),
      from,
      to,
      code: reply?.code ?? null,
      text: reply?.text ?? null,
    })),
  }
}
