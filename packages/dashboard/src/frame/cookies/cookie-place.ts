import type { Config } from '@postrider/core'

/** Where cookies are valid: the beginning of their names, and their flags. */
export interface CookiePlace {
  readonly prefix: '__Host-' | '__Secure-' | ''
  readonly options: {
    readonly path: string
    readonly httpOnly: true
    /** A link in a mail or an OpenID provider leads here from another site with the cookie; a form of another site has none. */
    readonly sameSite: 'lax'
    readonly secure: boolean
  }
}

/**
 * With https and a host of its own, `__Host-` keeps other hosts of the domain from setting a cookie (RFC 6265bis 4.1.3.2), and demands the path "/".
 * Below a path other programs share the host: cookies are sent to that path only, and two installations of one host have one each.
 */
export function cookiePlace({ publicUrl, publicPath }: Pick<Config, 'publicUrl' | 'publicPath'>): CookiePlace {
  const secure = publicUrl.startsWith('https:')
  const prefix = !secure ? '' : publicPath === '' ? '__Host-' : '__Secure-'
  return { prefix, options: { path: publicPath || '/', httpOnly: true, sameSite: 'lax', secure } }
}
