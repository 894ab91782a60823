import { spawn } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { until } from '../../helpers/until.ts'

/** Where Debian's packages are. */
const FOLDER = process.env.SMARTHOSTS ?? '/var/tmp/postrider-smarthosts'
/** As Debian writes it in front of a package's name of a file. */
const fileOf = (name: string): string | undefined =>
  existsSync(FOLDER)
    ? readdirSync(FOLDER).find((file) => file.startsWith(`${name}_`) && file.endsWith('.deb'))
    : undefined

/** What a program needs that is not there; undefined if nothing. */
export function missingFor(packages: readonly string[]): string | undefined {
  if (process.getuid?.() !== 0) return 'it needs root'
  const missing = packages.filter((name) => fileOf(name) === undefined)
  return missing.length === 0
    ? undefined
    : `it needs: mkdir -p ${FOLDER} && cd ${FOLDER} && apt-get download ${missing.join(' ')}`
}

/**
 * A machine is this one with the files of packages over it: what it writes is in memory, and its processes end with the first of them. Packages may have
 * files in /lib and /sbin, which are links to folders of /usr; an overlay would hide these.
 */
const MACHINE = `set -e
folder=$1 host=$2; shift 2
memory=$folder/memory root=$folder/root
mount -t tmpfs -o mode=755 tmpfs "$memory"
mkdir "$memory/upper" "$memory/work" "$memory/packages"
for package; do dpkg -x "$package" "$memory/packages"; done
cd "$memory/packages"
for name in lib sbin bin; do
  if [ -d $name ]; then mkdir -p usr/$name; cp -a $name/. usr/$name; rm -r $name; fi
done
cd /
mount -t overlay overlay -o "lowerdir=$memory/packages:/,upperdir=$memory/upper,workdir=$memory/work" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
find "$root/var/spool" "$root/var/mail/" -type f -delete
hostname "$host"
echo ready
cat`
const HOSTS = (name: string): string => `127.0.0.1 localhost
127.0.0.1 relay.example.com
127.0.1.1 ${name} ${name.split('.', 1)[0]}
`
const COMMAND_SECONDS = 60

export interface Ran {
  readonly status: number
  readonly output: string
}

export interface Machine {
  readonly host: string
  write(path: string, text: string, mode?: number): void
  read(path: string): string
  /** Runs a command until it ends, whatever it has left running; an Error after a minute. */
  run(args: readonly string[], input?: string | Buffer): Promise<Ran>
  /** The same; an Error if its status is not 0. */
  shell(script: string): Promise<string>
}

/** Starts a machine named `host` with these packages of Debian, until the test ends. */
export async function startMachine(t: Test, packages: readonly string[], host: string): Promise<Machine> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-machine-'))
  chmodSync(folder, 0o755)
  for (const name of ['memory', 'root']) mkdirSync(join(folder, name))
  const files = packages.map((name) => join(FOLDER, fileOf(name) as string))
  const holder = spawn(
    'unshare',
    ['--mount', '--uts', '--pid', '--fork', '--kill-child', 'sh', '-c', MACHINE, 'sh', folder, host, ...files],
    { stdio: ['pipe', 'pipe', 'pipe'] },
  )
  const gone = new Promise((resolve) => holder.once('exit', resolve))
  let output = ''
  for (const stream of [holder.stdout, holder.stderr]) stream.on('data', (chunk) => (output += chunk))
  t.teardown(async () => {
    holder.kill('SIGKILL')
    await gone
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  })
  await until('a machine', () => {
    if (holder.exitCode !== null) throw new Error(`no machine: ${output}`)
    return output.includes('ready\n')
  })
  const inside = readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, 'utf8').trim()
  const root = `/proc/${inside}/root${folder}/root`
  const enter = ['--target', inside, '--mount', '--uts', '--pid', 'chroot', join(folder, 'root')]
  let commands = 0

  const machine: Machine = {
    host,
    write(path, text, mode = 0o644) {
      mkdirSync(join(root, path, '..'), { recursive: true })
      writeFileSync(join(root, path), text)
      chmodSync(join(root, path), mode)
    },
    read: (path) => readFileSync(join(root, path), 'utf8'),
    async run(args, input = '') {
      // By files: what it leaves running keeps its pipes open.
      const [stdin, stdout] = ['in', 'out'].map((name) => join(folder, `${++commands}.${name}`)) as [string, string]
      writeFileSync(stdin, input)
      const [from, to] = [openSync(stdin, 'r'), openSync(stdout, 'a')]
      try {
        const child = spawn('nsenter', [...enter, ...args], {
          stdio: [from, to, to],
          env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8', HOME: '/root', LOGNAME: 'root' },
        })
        const late = setTimeout(() => child.kill('SIGKILL'), COMMAND_SECONDS * 1000)
        const status = await new Promise<number>((resolve, reject) => {
          child.once('error', reject).once('exit', (code) => resolve(code ?? -1))
        })
        clearTimeout(late)
        if (status === -1) throw new Error(`${args.join(' ')} took a minute: ${readFileSync(stdout, 'utf8')}`)
        return { status, output: readFileSync(stdout, 'utf8') }
      } finally {
        closeSync(from)
        closeSync(to)
      }
    },
    async shell(script) {
      const { status, output: said } = await machine.run(['sh', '-ec', script])
      if (status !== 0) throw new Error(`${script} ended with ${status}: ${said}`)
      return said
    },
  }
  machine.write('/etc/hosts', HOSTS(host))
  machine.write('/etc/hostname', `${host}\n`)
  return machine
}
