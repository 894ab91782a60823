import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config-error.ts'

/** Explains which setting caused a failure to listen on a port or address; undefined for any other error. */
export function listenProblem(config: Config, error: unknown): string | undefined {
  const { code, syscall, port, address, hostname } = error as NodeJS.ErrnoException & Record<string, unknown>
  const { apiPort, relayPort, relayTlsPort, returnsPort, sandboxSmtpPort, sandboxHttpPort } = config
  const { apiHost, relayHost, returnsHost, sandboxHost } = config
  const ports = {
    API_PORT: apiPort,
    RELAY_PORT: relayPort,
    RELAY_TLS_PORT: relayTlsPort,
    RETURNS_PORT: returnsPort,
    SANDBOX_SMTP_PORT: sandboxSmtpPort,
    SANDBOX_HTTP_PORT: sandboxHttpPort,
    HEALTH_PORT: config.healthPort,
    METRICS_PORT: config.metricsPort,
  }
  const hosts = { API_HOST: apiHost, RELAY_HOST: relayHost, RETURNS_HOST: returnsHost, SANDBOX_HOST: sandboxHost }
  const naming = (settings: Record<string, unknown>, value: unknown): string =>
    Object.keys(settings)
      .filter((name) => settings[name] === value)
      .join(' or ')

  if (syscall === 'getaddrinfo' && naming(hosts, hostname)) {
    return `${naming(hosts, hostname)}: the host name ${hostname} cannot be resolved; use an address of this machine`
  }
  if (syscall !== 'listen' && syscall !== 'bind') return undefined
  // The metrics of each process but the first have a port after it.
  const setting = naming(ports, port) || 'METRICS_PORT'
  if (code === 'EADDRINUSE')
    return `port ${port} is in use: stop the program that uses it, or set ${setting} to another port`
  if (code === 'EACCES') return `port ${port} requires root: set ${setting} to a port above 1023`
  if (code === 'EADDRNOTAVAIL') return `${naming(hosts, address)}: ${address} is not an address of this machine`
  return undefined
}

/** Throws {@link ConfigError} if two of the programs that one host runs would listen on one port. */
export function requireDistinctPorts(config: Config): void {
  const { apiHost, relayHost, returnsHost, sandboxHost, metricsHost, metricsPort } = config
  const listeners = [
    ['API_PORT', apiHost, config.apiPort],
    ['RELAY_PORT', relayHost, config.relayPort],
    ['RELAY_TLS_PORT', relayHost, config.relayTlsPort],
    ['RETURNS_PORT', returnsHost, config.returnsPort],
    ...(config.delivery.kind === 'sandbox'
      ? ([
          ['SANDBOX_SMTP_PORT', sandboxHost, config.sandboxSmtpPort],
          ['SANDBOX_HTTP_PORT', sandboxHost, config.sandboxHttpPort],
        ] as const)
      : []),
    ...(metricsPort === undefined ? [] : ([['METRICS_PORT', metricsHost, metricsPort]] as const)),
  ] as const
  for (const [at, [name, host, port]] of listeners.entries()) {
    const same = listeners.slice(0, at).find((other) => other[2] === port && overlap(host, other[1]))
    if (same) throw new ConfigError(name, `must differ from ${same[0]}: both are ${port}`)
  }
}

/** Whether a port of one address is one of the other, too. */
function overlap(a: string, b: string): boolean {
  return a === b || [a, b].some((host) => host === '0.0.0.0' || host === '::')
}
