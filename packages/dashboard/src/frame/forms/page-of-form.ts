import type { DashboardRoute } from '../routes.ts'

/** Returns the path of the page that leads to a form, given the path of the form; undefined if no form is sent there. */
export type PageOfForm = (path: string) => string | undefined

const ACCOUNT = ':account'

/** A visitor who opens the address of a form again, without sending the form, finds no page at it, but at a part of it. */
export function createPageOfForm(routes: readonly DashboardRoute[]): PageOfForm {
  const patterns = (method: DashboardRoute['method']) =>
    routes
      .filter((route) => route.method === method)
      .map((route) => partsOf(route.for === 'account' ? `/${ACCOUNT}${route.path}` : route.path))
  const [forms, pages] = [patterns('POST'), patterns('GET')]

  return (path) => {
    const parts = partsOf(path.slice('/app'.length))
    if (!forms.some((form) => matches(form, parts))) return undefined
    for (let count = parts.length - 1; count > 0; count--) {
      const above = parts.slice(0, count)
      if (pages.some((page) => matches(page, above))) return `/app/${above.join('/')}`
    }
    return '/app'
  }
}

function partsOf(path: string): readonly string[] {
  return path.split('/').filter((part) => part !== '')
}

function matches(pattern: readonly string[], parts: readonly string[]): boolean {
  return (
    pattern.length === parts.length &&
    pattern.every((part, at) =>
      part === ACCOUNT ? Number.isInteger(Number(parts[at])) : part.startsWith(':') || part === parts[at],
    )
  )
}
