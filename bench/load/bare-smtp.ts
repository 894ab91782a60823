import { SMTPServer } from 'smtp-server'

/** The ceiling of accept over SMTP: smtp-server that reads each message, keeps nothing, and replies at once. */
const server = new SMTPServer({
  authOptional: true,
  hideSTARTTLS: true,
  disableReverseLookup: true,
  logger: false,
  onData(stream, _session, callback) {
    stream.on('data', () => {})
    stream.on('end', () => callback())
  },
})
server.listen(Number(process.argv[2]), '127.0.0.1', () => process.stdout.write('started\n'))
