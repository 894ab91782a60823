import Type from 'typebox'

/** Entries per page. */
const PAGE = 50
const MAX_PAGE = 500

export const PAGES = {
  limit: Type.Optional(Type.Integer({ minimum: 1 })),
  offset: Type.Optional(Type.Integer({ minimum: 0 })),
}

export function pageOf({ limit = PAGE, offset = 0 }: { readonly limit?: number; readonly offset?: number }) {
  return { limit: Math.min(limit, MAX_PAGE), offset }
}
