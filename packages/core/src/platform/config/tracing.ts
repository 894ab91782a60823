import { ConfigError, type Environment } from './config-error.ts'
import { oneOf } from './values.ts'

/** Which traces are exported, and where to. */
export interface TracingConfig {
  /** The base URL of a receiver of OTLP over HTTP. */
  readonly endpoint: string
  /** The part of the traces without a decision of the caller that is exported, from 0 to 1. */
  readonly ratio: number
  /** Whether the caller's `traceparent` decides for its messages. */
  readonly followsCaller: boolean
}

const SAMPLERS = [
  'parentbased_traceidratio',
  'traceidratio',
  'parentbased_always_on',
  'always_on',
  'parentbased_always_off',
  'always_off',
] as const
const DEFAULT_RATIO = '0.01'
const RATIO = /^(?:0|1|0?\.\d{1,6}|[01]\.0{1,6}|0\.\d{1,6})$/

/** Reads the settings of traces, whose names are the standard's. Returns undefined without an endpoint. Throws ConfigError. */
export function tracing(env: Environment): TracingConfig | undefined {
  const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT || undefined
  const sampler = oneOf(env, 'OTEL_TRACES_SAMPLER', SAMPLERS, 'parentbased_traceidratio')
  const part = env.OTEL_TRACES_SAMPLER_ARG || DEFAULT_RATIO
  if (!RATIO.test(part)) throw new ConfigError('OTEL_TRACES_SAMPLER_ARG', 'must be a number from 0 to 1, such as 0.01')
  if (endpoint === undefined) return undefined
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol))
    throw new ConfigError('OTEL_EXPORTER_OTLP_ENDPOINT', 'must be an http or https URL, such as http://127.0.0.1:4318')
  const ratio = sampler.endsWith('always_on') ? 1 : sampler.endsWith('always_off') ? 0 : Number(part)
  return { endpoint, ratio, followsCaller: sampler.startsWith('parentbased') }
}
