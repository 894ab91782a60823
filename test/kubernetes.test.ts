import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { METRIC_TABLE, type MetricRow, readConfig, SETTINGS } from '@postrider/core'
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment'
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler'
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap'
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec'
import type { ISecret } from 'kubernetes-models/v1/Secret'
import type { IService } from 'kubernetes-models/v1/Service'
import t from 'tap'
import { parseAllDocuments } from 'yaml'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OVERLAYS = ['base', 'overlays/example', 'overlays/scaled'].map((name) => `deploy/kubernetes/${name}`)
/** Seconds in which a process finishes its work after DRAIN_DELAY (core/process.ts). */
const DRAIN = 30
const skip = spawnSync('kubectl', ['version', '--client']).status === 0 ? false : 'kubectl is not installed'

interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

const rendered: KubernetesObject[] = []

for (const folder of OVERLAYS)
  t.test(folder, { skip }, async (t) => {
    const objects = parseAllDocuments(
      execFileSync('kubectl', ['kustomize', folder], { cwd: ROOT, encoding: 'utf8' }),
    ).map((one) => one.toJS() as KubernetesObject)
    const all = <T>(kind: string): T[] => objects.filter((one) => one.kind === kind) as T[]
    const deployments = all<IDeployment>('Deployment')
    const pods = [...deployments, ...all<IDeployment>('Job')].map((one) => ({
      name: one.metadata?.name as string,
      spec: one.spec?.template.spec as IPodSpec,
    }))

    await t.test('the fields of its objects have values that Kubernetes takes', async (t) => {
      t.ok(objects.length > 10)
      // kustomize breaks the lines of long values, which the format of the schema does not foresee, and Kubernetes takes.
      for (const { data = {} } of all<{ data: Record<string, string> }>('Secret'))
        for (const [name, value] of Object.entries(data)) data[name] = value.replaceAll('\n', '')
      for (const one of objects) {
        const { [one.kind]: Model } = await import(`kubernetes-models/${one.apiVersion}/${one.kind}`)
        t.doesNotThrow(() => new Model(one).validate(), `${one.kind} ${one.metadata.name}`)
      }
      rendered.push(...objects)
    })

    await t.test('its settings exist, and processes start with them', async (t) => {
      const known = new Set(SETTINGS.map(({ name }) => name))
      const own = Object.assign({}, ...all<IConfigMap>('ConfigMap').map(({ data }) => data))
      const secrets = Object.entries(Object.assign({}, ...all<ISecret>('Secret').map(({ data }) => data))).map(
        ([name, value]) => [name, Buffer.from(String(value), 'base64').toString()],
      )
      for (const { name, spec } of pods) {
        const env = { ...own, ...Object.fromEntries(secrets), ...environmentOf(spec) } as Record<string, string>
        t.strictSame(
          Object.keys(env).filter((one) => !known.has(one)),
          [],
          name,
        )
        t.doesNotThrow(() => readConfig(withFiles(env)), name)
        t.equal(env.MIGRATE, 'manual')
        for (const { name: source } of referencesOf(spec))
          if (source?.startsWith('postrider-settings'))
            t.ok(all<IConfigMap>('ConfigMap').some(({ metadata }) => metadata?.name === source))
      }
      t.strictSame(pods.map(({ name }) => name).sort(), [
        'postrider-api',
        'postrider-delivery',
        'postrider-migrate',
        'postrider-relay',
        'postrider-returns',
      ])
    })

    await t.test('its ports are those of the settings', async (t) => {
      const own = Object.assign({}, ...all<IConfigMap>('ConfigMap').map(({ data }) => data)) as Record<string, string>
      const listening = (spec: IPodSpec): number[] => {
        const { apiPort, relayPort, relayTlsPort, returnsPort, healthPort, metricsPort } = readConfig({
          ...own,
          ...withFiles(environmentOf(spec)),
        })
        return [apiPort, relayPort, relayTlsPort, returnsPort, healthPort, metricsPort].filter(
          (one) => one !== undefined,
        )
      }
      for (const { name, spec } of pods.filter(({ name }) => name !== 'postrider-migrate')) {
        const ports = spec.containers[0]?.ports ?? []
        for (const { containerPort } of ports) t.ok(listening(spec).includes(containerPort), `${name} ${containerPort}`)
        for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'] as const)
          t.ok(ports.some((port) => port.name === spec.containers[0]?.[probe]?.httpGet?.port))
      }
      for (const service of all<IService>('Service')) {
        const component = service.spec?.selector?.['app.kubernetes.io/component']
        const ports = pods.find(({ name }) => name === `postrider-${component}`)?.spec.containers[0]?.ports ?? []
        for (const { targetPort } of service.spec?.ports ?? [])
          t.ok(
            ports.some((port) => port.name === targetPort),
            `${component} ${targetPort}`,
          )
      }
    })

    await t.test(
      'where connections are restricted, all may use the services, and the namespace of Prometheus the metrics',
      async (t) => {
        const policies = all<INetworkPolicy>('NetworkPolicy')
        if (policies.length === 0) return
        const rules = (component: string | undefined) =>
          policies
            .filter(({ spec: { podSelector = {} } = {} }) =>
              Object.entries(podSelector.matchLabels ?? {}).every(
                ([label, value]) => label === 'app.kubernetes.io/component' && value === component,
              ),
            )
            .flatMap(({ spec }) => spec?.ingress ?? [])
        const open = (component: string | undefined) =>
          rules(component)
            .filter(({ from }) => from === undefined)
            .flatMap(({ ports = [] }) => ports.map(({ port }) => port))
        for (const { spec } of all<IService>('Service'))
          t.strictSame(
            open(spec?.selector?.['app.kubernetes.io/component']).sort(),
            (spec?.ports ?? []).map(({ targetPort }) => targetPort).sort(),
          )
        t.strictSame(open('delivery'), [])
        for (const { spec } of deployments) {
          const component = spec?.template.metadata?.labels?.['app.kubernetes.io/component']
          const [scrape, ...others] = rules(component).filter(({ from }) => from !== undefined)
          t.strictSame([scrape?.ports, others], [[{ port: 'metrics' }], []], String(component))
        }
      },
    )

    await t.test('its pods have no rights, and time to finish their work', async (t) => {
      for (const { name, spec } of pods) {
        const [container] = spec.containers
        t.equal(spec.containers.length, 1)
        t.match(spec.securityContext, { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }, name)
        t.strictSame(container?.securityContext, {
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
          readOnlyRootFilesystem: true,
        })
        t.equal(spec.automountServiceAccountToken, false)
        t.ok(container?.resources?.limits?.memory)
        t.ok(existsSync(join(ROOT, container?.command?.[1] ?? 'none')), name)
      }
      const own = Object.assign({}, ...all<IConfigMap>('ConfigMap').map(({ data }) => data)) as Record<string, string>
      for (const { metadata, spec } of deployments) {
        const scaler = all<IHorizontalPodAutoscaler>('HorizontalPodAutoscaler').find(
          (one) => one.spec?.scaleTargetRef.name === metadata?.name,
        )
        t.ok((scaler?.spec?.minReplicas ?? spec?.replicas ?? 1) >= 2, String(metadata?.name))
        if (scaler) t.equal(spec?.replicas, undefined, 'each apply would set the number back')
        t.ok((spec?.template.spec?.terminationGracePeriodSeconds ?? 0) >= Number(own.DRAIN_DELAY) + DRAIN)
        t.ok(objects.some(({ kind, metadata: { name } }) => kind === 'PodDisruptionBudget' && name === metadata?.name))
      }
    })
  })

t.test('delivery pods are scaled by a metric that exists, and workers have', { skip }, async (t) => {
  const scalers = rendered.filter(
    ({ kind }) => kind === 'HorizontalPodAutoscaler',
  ) as unknown as IHorizontalPodAutoscaler[]
  t.equal(scalers.length, 1)
  const { scaleTargetRef, metrics = [] } = scalers[0]?.spec ?? {}
  t.match(scaleTargetRef, { kind: 'Deployment', name: 'postrider-delivery' })
  const row = (METRIC_TABLE as Readonly<Record<string, MetricRow>>)[
    metrics[0]?.external?.metric.name.replace('postrider_', '') as string
  ]
  t.match(row, { type: 'gauge', processes: ['delivery'], labels: {} })
})

t.test('their objects have no fields that Kubernetes does not know', { skip }, async (t) => {
  t.ok(rendered.length > 20)
  t.equal(unknownFields(rendered), '')
})

/** What the published types say of fields; the validators pass those that they do not know. */
function unknownFields(objects: readonly KubernetesObject[]): string {
  const cache = join(ROOT, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'kubernetes-'))
  try {
    const types = [...new Map(objects.map(({ apiVersion, kind }) => [kind, apiVersion]))]
    const lines = [
      ...types.map(([kind, version]) => `import type { I${kind} } from 'kubernetes-models/${version}/${kind}'`),
      ...objects.map((one, at) => `export const object${at}: I${one.kind} = ${JSON.stringify(one, null, 1)}`),
    ]
    const file = join(folder, 'objects.ts')
    writeFileSync(file, lines.join('\n'))
    const options = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', '']
    return spawnSync('tsc', [...options, file], { encoding: 'utf8', cwd: ROOT }).stdout
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function environmentOf(spec: IPodSpec): Record<string, string> {
  return Object.fromEntries((spec.containers[0]?.env ?? []).map(({ name, value }) => [name, value ?? '']))
}

/** With files that are here in place of those that are mounted. */
function withFiles(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, value.startsWith('/tls/') ? join(ROOT, 'package.json') : value]),
  )
}

function referencesOf(spec: IPodSpec): { readonly name?: string }[] {
  return (spec.containers[0]?.envFrom ?? []).map(({ configMapRef, secretRef }) => configMapRef ?? secretRef ?? {})
}
