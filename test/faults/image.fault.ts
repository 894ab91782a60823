import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import nodemailer from 'nodemailer'
import t from 'tap'
import { makeEmptyDatabase } from '../helpers/database.ts'
import { freePorts } from '../helpers/ports.ts'
import { FILES, type ProcessName } from '../helpers/processes.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeServiceOn } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { buildImage, missingForImage } from './image-container.ts'

/** Bytes of all files. */
const MOST = 180e6
const POSTRIDER = ['node', 'packages/cli/src/postrider.ts']

t.test(
  'the image works without a shell, as an ordinary user and with nothing to write to',
  { skip: missingForImage() ?? false, timeout: 1_200_000 },
  async (t) => {
    const image = buildImage(t)
    const files = execFileSync('find', [image.root, '-mindepth', '1', '-printf', '%y %m %U %s %P\\n'], {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    })
      .trim()
      .split('\n')
      .map((line) => {
        const [, kind, mode, uid, size, file = ''] = /^(.) (\d+) (\d+) (\d+) (.*)$/.exec(line) ?? []
        return {
          file,
          size: kind === 'f' ? Number(size) : 0,
          isPrivileged: Number(mode) > 1777,
          isOwned: uid === '1000',
        }
      })
    const bytes = (of: (file: string) => boolean): number =>
      files.filter(({ file }) => of(file)).reduce((sum, { size }) => sum + size, 0)

    await t.test(`its files are at most ${MOST / 1e6} MB`, async (t) => {
      const parts = {
        all: () => true,
        'Node and libraries': (file: string) => !file.startsWith('app/'),
        packages: (file: string) => file.startsWith('app/node_modules/.pnpm'),
        'bundle and compiled sources': (file: string) => file.startsWith('app/node_modules/.cache'),
        sources: (file: string) => file.startsWith('app/packages'),
        documents: (file: string) => file.startsWith('app/docs'),
      }
      for (const [name, of] of Object.entries(parts)) t.comment(`${name}: ${(bytes(of) / 1e6).toFixed(1)} MB`)
      t.ok(files.length > 3000)
      t.ok(bytes(parts.all) <= MOST)
    })

    await t.test('it has one program, no secrets, and nothing that only a build or a test needs', async (t) => {
      const programs = files.filter(({ file }) => /(^|\/)s?bin\//.test(file) && !file.startsWith('app/'))
      t.strictSame(
        programs.map(({ file }) => file),
        ['usr/local/bin/node'],
      )
      t.strictSame(
        files.filter(({ isPrivileged }) => isPrivileged),
        [],
      )
      const stray =
        /(^|\/)(\.env|\.npmrc|\.git|\.npm|pnpm|npm|typescript|esbuild|tap|playwright-core|secret-key)$|\.(key|p12|map)$|^app\/(test|bench|patches)\b|^root\//
      t.strictSame(
        files.map(({ file }) => file).filter((file) => stray.test(file)),
        [],
      )
      const keys = files.filter(({ file }) => file.endsWith('.pem')).map(({ file }) => join(image.root, file))
      for (const key of keys) t.notMatch(readFileSync(key, 'utf8'), 'PRIVATE KEY', key)
      t.notMatch(image.config.Env.join('\n'), /SECRET|KEY|PASSWORD|CERT/)
      t.strictSame(
        files
          .filter(({ file, isOwned }) => isOwned && !file.startsWith('app/node_modules/.cache'))
          .map(({ file }) => file),
        ['data'],
      )
    })

    await t.test('commands run in it, and list their help', async (t) => {
      const help = await image.run([...POSTRIDER, '--help'])
      t.equal(help.status, 0, help.output)
      t.match(help.output, 'Usage: postrider')
      const { output } = await image.run(['node', '--eval', CONFINED])
      t.equal(output, 'uid 1000, EROFS, NoNewPrivs 1, CapEff 0000000000000000\n')
    })

    await t.test('a program starts from its bundle, compiled by the build', async (t) => {
      const take = async (program: string, env: Record<string, string> = {}): Promise<number> => {
        const { status, output } = await image.run(['node', `--import=${REPORTS_TIME}`, program], {
          LOG_LEVEL: 'invalid',
          ...env,
        })
        t.equal(status, 78, output)
        return Number(/took (\d+) ms/.exec(output)?.[1])
      }
      const times = { bundle: [] as number[], uncompiled: [] as number[], sources: [] as number[] }
      for (let round = 0; round < 5; round++) {
        times.bundle.push(await take(FILES.api))
        times.uncompiled.push(await take(FILES.api, { NODE_DISABLE_COMPILE_CACHE: '1' }))
        times.sources.push(await take('packages/api/src/api-process.ts', { NODE_DISABLE_COMPILE_CACHE: '1' }))
      }
      for (const [name, all] of Object.entries(times))
        t.comment(`processor time to load the API, ${name}: ${median(all)} ms`)
      t.ok(median(times.bundle) < 0.8 * median(times.uncompiled))
      t.ok(median(times.uncompiled) < 0.8 * median(times.sources))
    })

    await t.test('its processes take mail by HTTP and SMTP, and deliver it', async (t) => {
      const database = await makeEmptyDatabase()
      const migrated = await image.run([...POSTRIDER, 'migrate'], { DATABASE_URL: database.url, SECRET_KEY })
      t.equal(migrated.status, 0, migrated.output)
      const sink = await startSink(t)
      const service = await makeServiceOn(t, database, {
        DELIVERY: `smtp://127.0.0.1:${sink.port}`,
        SECRET_KEY,
        DATA_DIR: '/data',
      })
      const sender = await service.makeSender()
      const base = `http://127.0.0.1:${service.config.apiPort}`
      const names: ProcessName[] = ['api', 'relay', 'delivery', 'returns']
      const ports = await freePorts(names.length)
      const urls = names.map((name, at) => `${name === 'api' ? base : `http://127.0.0.1:${ports[at]}`}/health/ready`)
      const containers = await Promise.all(
        names.map((name, at) => {
          const url = urls[at] as string
          return image.start(['node', FILES[name]], { ...service.env, HEALTH_PORT: String(ports[at]) }, url)
        }),
      )

      const answer = await sendV2(base, sender.apiKey, v2Body(sender))
      t.equal(answer.status, 200)
      const relay = nodemailer.createTransport({
        host: '127.0.0.1',
        port: service.config.relayPort,
        requireTLS: true,
        auth: { user: 'apikey', pass: sender.apiKey },
        tls: { rejectUnauthorized: false },
      })
      await relay.sendMail({ from: `desk@${sender.domain}`, to: 'ines@harbor.example', subject: 'Berth 5', text: 'Hi' })
      await until('both messages to arrive', () => sink.messages.length === 2)
      t.strictSame(sink.messages.flatMap(({ to }) => to).sort(), ['ines@harbor.example', 'lena@harbor.example'])
      for (const { data } of sink.messages) t.match(String(data), /^DKIM-Signature: /m)

      for (const path of [
        '/docs',
        '/docs/guides/settings',
        '/docs/images/messages.png',
        '/app/log-in',
        '/openapi.json',
      ])
        t.equal((await fetch(`${base}${path}`)).status, 200, path)

      const [, ...probe] = image.config.Healthcheck.Test
      const ask = (url: string) => image.run([...probe, url])
      t.strictSame(await Promise.all(urls.map(ask)), new Array(urls.length).fill({ status: 0, output: '' }))
      t.strictSame(await Promise.all(containers.map((one) => one.stop())), new Array(names.length).fill(0))
      t.equal((await ask(urls[0] as string)).status, 1, 'the health check of a process that has stopped')
    })

    await t.test('its packages are those of the bill of materials', async (t) => {
      const root = fileURLToPath(new URL('../..', import.meta.url))
      execFileSync('npm', ['run', '--silent', 'sbom'], { cwd: root, stdio: 'ignore' })
      const { components } = JSON.parse(readFileSync(join(root, 'sbom.json'), 'utf8')) as {
        components: { group?: string; name: string; version: string; licenses?: unknown[] }[]
      }
      const named = components.map((one) => `${one.group ? `${one.group}/` : ''}${one.name}@${one.version}`)
      const installed = files
        .filter(({ file }) =>
          /^app\/(packages\/[^/]+|node_modules\/\.pnpm\/[^/]+\/node_modules\/(@[^/]+\/)?[^/]+)\/package\.json$/.test(
            file,
          ),
        )
        .map(({ file }) => JSON.parse(readFileSync(join(image.root, file), 'utf8')))
        .map(({ name, version }: { name: string; version: string }) => `${name}@${version}`)
      t.strictSame([...new Set(installed)].sort(), [...new Set(named)].sort())
      t.strictSame(
        components.filter(({ licenses }) => !licenses?.length),
        [],
      )
    })

    await t.test('the licences of what it contains are in it', async (t) => {
      t.ok(existsSync(join(image.root, 'app/LICENSE')))
      t.ok(existsSync(join(image.root, 'usr/share/doc/node/LICENSE')))
      t.ok(existsSync(join(image.root, 'usr/share/doc/libc6/copyright')))
    })
  },
)

const SECRET_KEY = 'a secret key that only tests may know'
const REPORTS_TIME = `data:text/javascript,process.on('exit',()=>{const{user,system}=process.cpuUsage();console.log('took',Math.round((user+system)/1e3),'ms')})`
const CONFINED = `
  const { readFileSync, writeFileSync } = require('node:fs')
  const status = readFileSync('/proc/self/status', 'utf8')
  const has = (name) => name + ' ' + new RegExp(name + ':\\\\s*(\\\\w+)').exec(status)[1]
  let code
  try { writeFileSync('/app/file', '') } catch (error) { code = error.code }
  console.log(['uid ' + process.getuid(), code, has('NoNewPrivs'), has('CapEff')].join(', '))`

function median(all: readonly number[]): number {
  return all.toSorted((one, other) => one - other)[Math.floor(all.length / 2)] as number
}
