import { CommandError, exitCodes } from '@slipway/kube';
import type { OperatorDescription, WebhookOptions } from '@slipway/runtime';

import { workloadName } from './install-objects.ts';

interface WebhookPlace {
  /** How the API server reaches us. */
  readonly address: WebhookOptions['address'];
  readonly port: number;
  /** Default: all addresses of the machine. */
  readonly host?: string;
  /** Where the Secret with the certificate is. */
  readonly namespace: string;
}

/** How a manager serves and registers the webhooks of its operators. */
export function webhooksAt(operators: readonly OperatorDescription[], place: WebhookPlace): WebhookOptions {
  const name = managerName(operators);
  const webhooks = webhooksOf(operators);
  return {
    webhooks,
    address: place.address,
    port: place.port,
    ...(place.host === undefined ? {} : { host: place.host }),
    certificates: { secret: { namespace: place.namespace, name: `${name}-webhook-cert` } },
    configuration: name,
  };
}

export function webhooksOf(operators: readonly OperatorDescription[]): NonNullable<OperatorDescription['webhooks']> {
  return operators.flatMap((operator) => operator.webhooks ?? []);
}

/** What a manager calls what it shares with its replicas: its lease, its webhook configuration. An operator that runs alone has its own: others may run beside it. */
export function managerName(operators: readonly OperatorDescription[]): string {
  const [first, ...others] = operators;
  return first === undefined || others.length > 0 ? 'slipway' : workloadName(first);
}

interface WebhookFlags {
  readonly 'webhook-service': string | undefined;
  readonly 'webhook-url': string | undefined;
}

/** The address the flags of `run` give. It cannot be guessed: without one, an operator with webhooks does not start. */
export function webhookAddress(
  operators: readonly OperatorDescription[],
  flags: WebhookFlags,
  namespace: string,
): WebhookOptions['address'] {
  const url = flags['webhook-url'];
  if (url !== undefined) {
    if (!URL.canParse(url) || new URL(url).protocol !== 'https:')
      throw new CommandError(`--webhook-url must be an https URL, not '${url}'`, { exitCode: exitCodes.usage });
    return { url };
  }
  const service = flags['webhook-service'];
  if (service !== undefined) {
    const [first = '', second] = service.split('/');
    return { service: second === undefined ? { namespace, name: first } : { namespace: first, name: second } };
  }
  const names = operators.filter((operator) => (operator.webhooks ?? []).length > 0).map(({ name }) => name);
  throw new CommandError(`${names.join(', ')}: the API server has to reach its webhooks, and nothing says how`, {
    hint: 'name a Service with --webhook-service NAME, or --webhook-url https://HOST:PORT when this runs outside the cluster',
    exitCode: exitCodes.usage,
  });
}
