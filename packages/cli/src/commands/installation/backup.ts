import { resolve } from 'node:path'
import { type BackupAddress, backupAddress, commandLines, findSecretKey, openDatabase, PATIENCE } from '@postrider/core'
import { type BaseBackup, PARTS } from '../../backup/base-backup.ts'
import { withBackups } from '../../backup/open-backups.ts'
import { type Pruned, prune } from '../../backup/prune.ts'
import { type RestoreResult, restore } from '../../backup/restore.ts'
import { takeBackup } from '../../backup/take-backup.ts'
import { verifyBackup } from '../../backup/verify.ts'
import {
  type Answer,
  type Call,
  type Command,
  CommandError,
  requiredText,
  requiredWord,
  timeOption,
  UsageError,
  wholeOption,
} from '../../command.ts'
import { bytesText } from '../../doctor/check-result.ts'
import { type Progress, progressOn, SILENT } from '../../importing/progress.ts'
import { requireInstallation } from '../../installation.ts'
import { startEmbeddedPostgres } from '../../start-postgres.ts'

const DIR = 'Backup folder, or s3://BUCKET/PREFIX with the settings S3_… and SECRET_KEY'
const TO_TIME = 'ISO 8601 time to restore to (default: the end of the backups)'

export const backupCommands: readonly Command[] = [
  {
    name: 'backup',
    usage: 'DIR [--with-secret] [--keep N]',
    summary: 'Add a base backup of the embedded database to a backup folder or object storage',
    detail: 'The folder is created if it does not exist. The installation may run',
    parameters: {
      DIR,
      'with-secret':
        'Also store the secret key, without which DKIM keys and other secrets in the backup cannot be decrypted',
      keep: 'Delete all but the latest N base backups, and the changes that none of those needs',
    },
    examples: ['backup /backups --keep 7', 'backup s3://my-bucket/backups --keep 7'],
    run: backUp,
  },
  {
    name: 'backup verify',
    usage: 'DIR [--to-time TIME]',
    summary: 'Restore a backup to a temporary folder, check all of it, and delete it',
    detail:
      'Reads every page, index, audit log and event number in a folder below TMPDIR, which needs the space. The exit status is 1 if anything is wrong',
    parameters: { DIR, 'to-time': TO_TIME },
    examples: ['backup verify /backups'],
    run: runVerify,
  },
  {
    name: 'restore',
    usage: 'DIR --into DATA_DIR [--to-time TIME]',
    summary: 'Restore the embedded database from its backups to a new DATA_DIR',
    detail:
      'Mail that is in its queue is held until "postrider queue release". The installation that the backups are from must not run',
    parameters: { DIR, into: 'Folder that does not exist yet, or is empty', 'to-time': TO_TIME },
    examples: ['restore /backups --into ./restored --to-time 2026-11-24T08:00:00Z'],
    run: runRestore,
  },
]

const OWN_POSTGRES =
  'this command is for the embedded database; back up the database of DATABASE_URL with pg_basebackup, pgBackRest or WAL-G (docs/backup.md)'

async function backUp(call: Call): Promise<Answer> {
  const to = addressOf(call)
  const { config, env, stderr } = call
  if (env.DATABASE_URL) throw new CommandError(OWN_POSTGRES)
  requireInstallation(config)
  const keep = wholeOption(call, 'keep')
  if (keep === 0) throw new UsageError('--keep must be at least 1 (got 0)')
  const secretKey = call.options['with-secret'] ? findSecretKey(config.secretKey, config.dataDir) : undefined
  const embedded = await startEmbeddedPostgres({ dataDir: config.dataDir, backups: config.backups?.address })
  const sql = openDatabase({ url: embedded.url, name: 'backup', connections: 1 })
  try {
    return await withBackups(to, PATIENCE.long, async (store) => {
      const progress = call.options.json ? SILENT : progressOn(stderr)
      const backup = await takeBackup({ sql, dataDir: config.dataDir, store, secretKey, progress })
      const pruned = keep === undefined ? undefined : await prune(store, keep)
      const keyNote = 'folder' in to ? keyNoteOf(backup) : ENCRYPTED
      return { data: { ...shown(backup), pruned }, text: textOf(store.name, backup, keyNote, pruned) }
    })
  } finally {
    await sql.end({ timeout: 5 })
    await embedded.stop()
  }
}

function shown({ filesDigest: _digest, ...backup }: BaseBackup) {
  return backup
}

const ENCRYPTED = 'encrypted with SECRET_KEY: keep that in another safe place, since nothing can be restored without it'

function keyNoteOf({ hasSecretKey }: BaseBackup): string {
  return hasSecretKey
    ? `with the secret key (${PARTS.secretKey}): users who can read the backup can decrypt all secrets of the installation`
    : 'without the secret key: keep SECRET_KEY, or DATA_DIR/secret-key, in another safe place'
}

function textOf(where: string, backup: BaseBackup, keyNote: string, pruned: Pruned | undefined): string {
  const { name, files, bytes, finishedAt } = backup
  return [
    `backup ${name} in ${where}: ${files} files, ${bytesText(bytes)}, as of ${finishedAt}`,
    keyNote,
    ...(pruned && pruned.backups > 0
      ? [`deleted ${pruned.backups} older base backups and ${pruned.segments} segments of the write-ahead log`]
      : []),
  ].join('\n')
}

async function runRestore(call: Call): Promise<Answer> {
  const from = addressOf(call)
  const into = resolve(requiredText(call, 'into'))
  const to = timeOption(call, 'to-time')
  const result = await restore({ from, into, to, ...output(call) })
  const { backup, restoredTo, held, epoch, missing } = result
  const { hasSecretKey } = backup
  const data = { into, restoredTo: restoredTo.toISOString(), backup: backup.name, held, epoch, hasSecretKey, missing }
  return { data, text: restoredText(into, result) }
}

function restoredText(into: string, { backup, restoredTo, held, epoch, missing }: RestoreResult): string {
  return [
    `restored to ${restoredTo.toISOString()}, the time of the last change, from the base backup ${backup.name}`,
    ...(missing === undefined
      ? []
      : [`the write-ahead log has a gap at ${missing}: changes after that could not be restored`]),
    `held in the queue: ${held}, of which some may have been delivered after that; "postrider queue release" delivers them`,
    `event numbers continue in epoch ${epoch}`,
    backup.hasSecretKey
      ? 'the secret key was restored, too'
      : 'the backup does not contain the secret key: set SECRET_KEY, or copy DATA_DIR/secret-key, of the installation. With another one ' +
        'the service does not start; DKIM keys, secrets of webhooks and second factors of users cannot be read without it',
    `next: set DATA_DIR=${into}, and BACKUP_DIR to a new folder or prefix if it was set; then ${commandLines().start}`,
  ].join('\n')
}

async function runVerify(call: Call): Promise<Answer> {
  const from = addressOf(call)
  const to = timeOption(call, 'to-time')
  const { backup, reached, counts, pages, problems } = await verifyBackup({ from, to, ...output(call) })
  const data = { backup: backup.name, reached: reached.toISOString(), pages, counts, problems }
  const { accounts, messages, queued, finished, events } = counts
  const text = [
    `restored ${backup.name} to ${reached.toISOString()}, the time of the last change`,
    `read ${pages} pages: ${accounts} accounts, ${messages} messages, ${queued} deliveries in the queue and ${finished} finished, ${events} events`,
    problems.length === 0 ? 'the backup can be restored' : problems.join('\n'),
  ].join('\n')
  return { data, text, ...(problems.length > 0 ? { failure: problems.join('; ') } : {}) }
}

function addressOf(call: Call): BackupAddress {
  return backupAddress(call.env, 'DIR', requiredWord(call, 'DIR, the backup folder or s3://BUCKET/PREFIX'))
}

/** Where progress goes: nowhere with --json. */
function output({ options, stderr }: Call): { progress: Progress; report: (line: string) => void } {
  if (options.json) return { progress: SILENT, report: () => {} }
  return { progress: progressOn(stderr), report: (line) => void stderr.write(`${line}\n`) }
}
