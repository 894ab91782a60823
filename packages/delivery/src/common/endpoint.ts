import type { HostDane } from '@postrider/core'

/** One address of a host. */
export interface Endpoint {
  readonly host: string
  readonly address: string
  readonly port: number
  /** The source address of the connection; chosen by the operating system if undefined. */
  readonly localAddress?: string
  /** Implicit TLS. */
  readonly implicitTls?: boolean
  /** The certificate must be valid for the host; set if credentials are sent. */
  readonly verify?: boolean
  /** The demands of the DNS on its certificate; undefined if there are none. */
  readonly dane?: HostDane
  readonly credentials?: { readonly user: string; readonly password: string }
}

/** Host and address, so that an attempt at several hosts shows which one a step belongs to. */
export function hostLabel({ host, address }: Endpoint): string {
  return host === address ? host : `${host} [${address}]`
}

/** Identifies the host as seen from the source address: state that is kept of it is not shared between source addresses. */
export function hostKey({ host, localAddress = '' }: Endpoint): string {
  return `${host} ${localAddress}`
}
