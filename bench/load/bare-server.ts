import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** smtp-server with nothing but `onData`, on this port of loopback. Prints a line once it listens. */
export function startBareServer(port: number, onData: NonNullable<SMTPServerOptions['onData']>): void {
  const server = new SMTPServer({
    authOptional: true,
    hideSTARTTLS: true,
    disableReverseLookup: true,
    logger: false,
    onData,
  })
  server.listen(port, '127.0.0.1', () => process.stdout.write('started\n'))
}
