import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { until } from '../helpers/until.ts'

const BUILD = fileURLToPath(new URL('../../deploy/image/build.sh', import.meta.url))
/** Kept between runs: the base takes a minute. */
const FOLDER = process.env.IMAGE_FOLDER ?? '/var/tmp/postrider-image'
/** crun rejects the mixture of both versions of control groups that some hosts have; these containers are in none. */
const WITHOUT_CGROUPS = 'mount --types cgroup2 none /sys/fs/cgroup; exec "$0" "$@"'

/** What a machine lacks to build and run images; undefined if nothing. Debian: apt-get install buildah debootstrap crun. */
export function missingForImage(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can mount'
  return ['/usr/bin/buildah', '/usr/sbin/debootstrap', '/usr/bin/crun'].find((file) => !existsSync(file))
}

/** The image's settings, as its file of OCI has them. */
export interface ImageConfig {
  readonly User: string
  readonly Env: readonly string[]
  readonly Cmd: readonly string[]
  readonly WorkingDir: string
  readonly Healthcheck: { readonly Test: readonly string[] }
}

export interface Image {
  readonly config: ImageConfig
  /** Where its files are. */
  readonly root: string
  /** Runs a command until it ends. */
  run(args: readonly string[], env?: Record<string, string>): Promise<Ran>
  /** Runs a process of the service until the test ends; `asks`: the URL of its health check, for which it waits. */
  start(args: readonly string[], env: Record<string, string>, asks: string): Promise<Container>
}

export interface Ran {
  readonly status: number
  readonly output: string
}

export interface Container {
  /** Sends SIGTERM and resolves with the exit status. */
  stop(): Promise<number>
}

/** Builds the image of this tree, and mounts it for the test. */
export function buildImage(t: Test): Image {
  execFileSync(BUILD, [FOLDER], { stdio: ['ignore', 'ignore', 'inherit'] })
  const buildah = (...args: string[]): string =>
    execFileSync('buildah', args, {
      encoding: 'utf8',
      env: { ...process.env, CONTAINERS_STORAGE_CONF: join(FOLDER, 'storage.conf') },
    }).trim()
  const container = buildah('from', '--signature-policy', join(FOLDER, 'policy.json'), 'localhost/postrider')
  t.teardown(() => buildah('rm', container))
  const root = buildah('mount', container)
  const config = JSON.parse(buildah('inspect', '--type', 'image', 'localhost/postrider')).Docker.config as ImageConfig
  const bundles = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'containers-'))
  let count = 0

  function launch(args: readonly string[], env: Record<string, string>) {
    const bundle = join(bundles, String(++count))
    mkdirSync(bundle)
    writeFileSync(join(bundle, 'config.json'), JSON.stringify(specification(root, config, args, env)))
    const pidFile = join(bundle, 'pid')
    const crun = ['crun', '--cgroup-manager=disabled', `--root=${join(bundles, 'state')}`, 'run', `--bundle=${bundle}`]
    const child = spawn(
      'unshare',
      ['--mount', 'sh', '-c', WITHOUT_CGROUPS, ...crun, `--pid-file=${pidFile}`, `postrider-${process.pid}-${count}`],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    )
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
    const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)))
    /** The first process of the container. */
    const signal = (name: NodeJS.Signals): void => {
      if (child.exitCode === null && existsSync(pidFile)) process.kill(Number(readFileSync(pidFile, 'utf8')), name)
    }
    return { ended, signal, output: () => output }
  }

  return {
    config,
    root,
    async run(args, env = {}) {
      const { ended, output } = launch(args, env)
      return { status: await ended, output: output() }
    },
    async start(args, env, asks) {
      const { ended, signal, output } = launch(args, env)
      const gone = ended.then((status) => {
        throw new Error(`${args.join(' ')} ended with ${status}:\n${output()}`)
      })
      gone.catch(() => {})
      t.teardown(async () => {
        signal('SIGKILL')
        await ended
      })
      const isReady = (): Promise<boolean> =>
        fetch(asks).then(
          (response) => response.ok,
          () => false,
        )
      await Promise.race([until(`${args.join(' ')} to be ready`, isReady, 60_000), gone])
      return {
        async stop() {
          signal('SIGTERM')
          return ended
        },
      }
    },
  }
}

/**
 * As Kubernetes runs it with the manifests of deploy/kubernetes: nothing can be written except /data and /tmp, no capabilities, no new
 * privileges, no other processes in sight. The network is the host's.
 */
function specification(root: string, config: ImageConfig, args: readonly string[], env: Record<string, string>) {
  const [, uid, gid] =
    new RegExp(`^${config.User}:[^:]*:(\\d+):(\\d+):`, 'm').exec(readFileSync(join(root, 'etc/passwd'), 'utf8')) ?? []
  const volume = (destination: string) => ({
    destination,
    type: 'tmpfs',
    source: 'tmpfs',
    options: ['nosuid', 'nodev', 'mode=1777'],
  })
  return {
    ociVersion: '1.0.2',
    process: {
      user: { uid: Number(uid), gid: Number(gid) },
      args,
      env: [...config.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)],
      cwd: config.WorkingDir,
      noNewPrivileges: true,
    },
    root: { path: root, readonly: true },
    hostname: 'postrider',
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
      volume('/data'),
      volume('/tmp'),
    ],
    linux: { namespaces: ['mount', 'pid', 'ipc', 'uts'].map((type) => ({ type })) },
  }
}
