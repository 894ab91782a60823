import { findSecretKey, openDatabase } from '@postrider/core'
import { type BaseBackup, PARTS } from '../backup/folder.ts'
import { takeBackup } from '../backup/take-backup.ts'
import { type Answer, type Call, type Command, CommandError, requiredWord } from '../command.ts'
import { bytesText } from '../doctor/finding.ts'
import { clusterOf, readPassword, startEmbeddedPostgres } from '../embedded-postgres/index.ts'
import { progressOn, SILENT } from '../importing/progress.ts'
import { requireInstallation } from '../installation.ts'

export const backupCommands: readonly Command[] = [
  {
    name: 'backup',
    usage: 'DIR [--with-secret]',
    summary:
      'Add a base backup of the embedded database to the backup folder DIR, which is created if it does not exist. The installation may run. ' +
      '--with-secret: also store the secret key, without which DKIM keys and other secrets in the backup cannot be decrypted',
    words: 1,
    options: { 'with-secret': { type: 'boolean' } },
    run: backUp,
  },
]

const OWN_POSTGRES =
  'this command is for the embedded database; back up the database of DATABASE_URL with pg_basebackup, pgBackRest or WAL-G (docs/backup.md)'

async function backUp(call: Call): Promise<Answer> {
  const to = requiredWord(call, 'DIR, the backup folder')
  const { config, env, stderr } = call
  if (env.DATABASE_URL) throw new CommandError(OWN_POSTGRES)
  requireInstallation(config)
  const secretKey = call.options['with-secret'] ? findSecretKey(config.secretKey, config.dataDir) : undefined
  const embedded = await startEmbeddedPostgres({ dataDir: config.dataDir, backups: config.backups?.folder })
  const sql = openDatabase({ url: embedded.url, name: 'backup', connections: 1 })
  try {
    const backup = await takeBackup({
      sql,
      cluster: clusterOf(config.dataDir),
      password: readPassword(config.dataDir),
      to,
      secretKey,
      progress: call.options.json ? SILENT : progressOn(stderr),
    })
    return { data: shown(backup), text: textOf(backup) }
  } finally {
    await sql.end({ timeout: 5 })
    await embedded.stop()
  }
}

function shown({ filesDigest: _digest, ...backup }: BaseBackup): unknown {
  return backup
}

function textOf({ folder, files, bytes, finishedAt, hasSecretKey }: BaseBackup): string {
  return [
    `backup ${folder}: ${files} files, ${bytesText(bytes)}, as of ${finishedAt}`,
    hasSecretKey
      ? `it contains the secret key (${PARTS.secretKey}): whoever can read it can read all secrets of the installation`
      : 'it does not contain the secret key: keep SECRET_KEY, or DATA_DIR/secret-key, in another safe place',
  ].join('\n')
}
