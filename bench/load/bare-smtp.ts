import { startBareServer } from './bare-server.ts'

/** The ceiling of accept over SMTP: smtp-server that reads each message, keeps nothing, and replies at once. */
startBareServer(Number(process.argv[2]), (stream, _session, callback) => {
  stream.on('data', () => {})
  stream.on('end', () => callback())
})
