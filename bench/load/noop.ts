import Fastify from 'fastify'

/** The ceiling of HTTP accept: Fastify that reads the JSON and answers what the service would. */
const app = Fastify({ logger: false })
app.post('/v2/sendEmail', async () => ({
  data: { message_id: '00000000000000000000000000000000' },
  message: 'Success',
  error_info: null,
}))
await app.listen({ host: '127.0.0.1', port: Number(process.argv[2]) })
process.stdout.write('started\n')
