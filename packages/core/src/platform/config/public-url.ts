import { ConfigError } from './config-error.ts'

/**
 * The first parts of the API's own paths. A sub-path must begin with none of them: a proxy may take it off a request or leave it, and /v2/v2/… does
 * not show which was done. test/api/sub-path/settings.test.ts compares them with the routes.
 */
const OWN_PATHS = [
  'api',
  'app',
  'docs',
  'exports',
  'health',
  'llms.txt',
  'mcp',
  'openapi.json',
  'operator',
  't',
  'tls',
  'v2',
  'v2.1',
  'v3',
]

export interface PublicUrl {
  /** Without a slash at its end. */
  readonly publicUrl: string
  /** Its path: "/mail", or empty where the service has a host of its own. */
  readonly publicPath: string
}

export function publicUrl(text: string | undefined, apiPort: number): PublicUrl {
  if (!text) return { publicUrl: `http://localhost:${apiPort}`, publicPath: '' }
  try {
    return parsePublicUrl(text)
  } catch (error) {
    throw new ConfigError('PUBLIC_URL', (error as Error).message)
  }
}

/** Throws an error whose message says what the URL must be. */
export function parsePublicUrl(text: string): PublicUrl {
  if (!URL.canParse(text) || !/^https?:\/\//.test(text)) throw new Error('must be an http or https URL')
  const { username, password, host, origin, pathname } = new URL(text)
  // Paths are added to it, and it is in every mail.
  if (username !== '' || password !== '' || /[?#]/.test(text))
    throw new Error(`must have no user name, query or fragment, like https://${host}`)
  const path = pathname.replace(/\/+$/, '')
  if (path === '') return { publicUrl: text.replace(/\/+$/, ''), publicPath: '' }
  // It is written into links and cookies as it is.
  if (!/^(?:\/[\w.~-]+)+$/.test(path))
    throw new Error(`must have a path of letters, digits and - . _ ~ only, like https://${host}/mail`)
  const [first = ''] = path.slice(1).toLowerCase().split('/')
  if (OWN_PATHS.includes(first))
    throw new Error(`must not have a path that begins with /${first}, as paths of the service itself do`)
  return { publicUrl: `${origin}${path}`, publicPath: path }
}
