import { permissiveAuth, type Authorizer } from '../auth/auth.ts';
import type { StoredObjects } from '../auth/stored-objects.ts';
import type { Clock } from '../clock.ts';
import type { Random } from '../random.ts';
import type { Registry } from '../registry.ts';
import type { Admission } from './admission.ts';
import { admissionChain } from './chain.ts';
import { defaultClasses } from './default-classes.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { newNodeTaint } from './node-taint.ts';
import { defaultTolerationSeconds, podPriority, podServiceAccount, storageInUseProtection } from './pod-plugins.ts';
import { signingRequestUser } from './signing-request-user.ts';
import { validatingPolicies } from './validating-policies.ts';
import { WebhookClient, type ServiceResolver } from './webhook-client.ts';
import { webhookAdmission } from './webhooks.ts';

export interface ClusterAdmissionOptions {
  readonly objects: StoredObjects;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  /** Answers `authorizer` in expressions. Default: everything is allowed. */
  readonly authorizer?: Authorizer;
  /** Where webhooks given as Services listen. Default: nowhere. */
  readonly resolveService?: ServiceResolver;
  /** Give pods a ServiceAccount and mount its token. Default false. */
  readonly podServiceAccounts?: boolean;
  /** Run before the webhooks, such as the check of RBAC grants. */
  readonly plugins?: readonly Admission[];
}

const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** Everything a write passes between decoding and the store, in the order of the real server. */
export function clusterAdmission(options: ClusterAdmissionOptions): Admission {
  const { objects, registry, clock, random } = options;
  const authorizer = options.authorizer ?? permissiveAuth.authorizer;
  const client = new WebhookClient({
    clock,
    ...(options.resolveService ? { resolveService: options.resolveService } : {}),
  });
  const randomSuffix = () =>
    Array.from({ length: 5 }, () => SUFFIX_ALPHABET[Math.floor(random.next() * SUFFIX_ALPHABET.length)]).join('');
  return admissionChain([
    namespaceLifecycle(objects),
    ...(options.podServiceAccounts ? [podServiceAccount(objects, randomSuffix)] : []),
    newNodeTaint(),
    podPriority(objects),
    defaultTolerationSeconds(),
    defaultClasses(objects),
    storageInUseProtection(),
    signingRequestUser(),
    ...(options.plugins ?? []),
    validatingPolicies({ objects, registry, authorizer }),
    webhookAdmission({ objects, registry, random, client, authorizer }),
  ]);
}
