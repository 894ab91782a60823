import { ConfigError, type Environment } from './config-error.ts'
import { file, hostName } from './values.ts'

export interface OperatorDkim {
  readonly domain: string
  /** Set if `keyFile` is. */
  readonly selector: string | undefined
  readonly keyFile: string | undefined
}

/** Undefined if there is none. Throws ConfigError. */
export function operatorDkim(env: Environment): OperatorDkim | undefined {
  const domain = hostName(env, 'OPERATOR_DKIM_DOMAIN', '') || undefined
  const selector = hostName(env, 'OPERATOR_DKIM_SELECTOR', '') || undefined
  const keyFile = file(env, 'OPERATOR_DKIM_KEY')
  if ((selector === undefined) !== (keyFile === undefined)) {
    throw new ConfigError(
      selector === undefined ? 'OPERATOR_DKIM_SELECTOR' : 'OPERATOR_DKIM_KEY',
      'must also be set: a selector and its key are configured together',
    )
  }
  if (domain === undefined && keyFile !== undefined) {
    throw new ConfigError('OPERATOR_DKIM_DOMAIN', 'must also be set: the domain of OPERATOR_DKIM_KEY')
  }
  return domain === undefined ? undefined : { domain, selector, keyFile }
}
