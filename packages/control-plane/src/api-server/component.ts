import { seconds } from '@slipway/kube';
import type { Watch } from '@slipway/runtime';

import { type APIServer, Authentication, Authorization } from '../api/components.ts';
import { ComponentError } from '../component/component-error.ts';
import {
  type ComponentContext,
  type ComponentDefinition,
  type ComponentOutcome,
  readyAsFound,
} from '../component/define-component.ts';
import { startedToFail } from '../component/predicates.ts';
import { clusterIdentity } from '../target/cluster-identity.ts';
import { TargetWatch } from '../target/target-watch.ts';
import { type ConnectTarget, sameServer, type Target } from '../target/target.ts';
import { type KnownAccess, readAccess, removeAccessSecret, writeAccessSecret } from './access-secret.ts';
import { accessKinds, type AdminAccessOptions, issueAdminAccess, isWithdrawn, renewalTime } from './admin-access.ts';
import type { ApiServerProvider, ProvidedApiServer } from './provider.ts';

export interface ApiServerOptions {
  readonly provider: ApiServerProvider;
  readonly connect: ConnectTarget;
  readonly adminAccess?: AdminAccessOptions;
  /** Keep the admin kubeconfig in the status, as the original does, instead of in a Secret. Default false. */
  readonly inlineKubeconfig?: boolean;
}

interface Work extends ApiServerOptions {
  readonly targetWatch: TargetWatch;
  readonly known: KnownAccess;
}

/** They may be the first to find that our access is not accepted any more. */
const dependantsFailed = [Authentication, Authorization].map(
  (kind) => ({ kind, predicates: [startedToFail], map: ({ key }) => [key] }) satisfies Watch as Watch,
);

/** One question for all control planes on an API server: cheap enough to know soon. */
const askMs = seconds(15);

type Status = NonNullable<APIServer['status']>;

/** The component that provides the API server of a control plane. It depends on nothing, and all others depend on it. */
export function apiServerComponent(given: ApiServerOptions): ComponentDefinition<'APIServer'> {
  const targetWatch = new TargetWatch(accessKinds, { askMs });
  const options = { ...given, targetWatch };
  return {
    type: 'APIServer',
    // Whoever depends on it needs it to clean up: it works on until the last of them has gone.
    servesDependentsWhileGoing: true,
    watches: [...(options.provider.watches ?? []), ...dependantsFailed],
    // Also how it notices that an API server does not answer any more, and that it does again.
    targetWatch,
    async apply(context) {
      const known = await accessOf(context, options);
      const server = await options.provider.ensure(context);
      return server.ready ? await withAccess(context, server, { ...options, known }) : waiting(server);
    },
    isReady: readyAsFound,
    async remove(context) {
      await accessOf(context, options);
      const left = await options.provider.remove(context);
      if (left === undefined) {
        await removeAccessSecret(context.client, context.key);
        return undefined;
      }
      const { reason, message, ...more } = left;
      return { waiting: { reason, message }, ...more };
    },
  };
}

function waiting(server: ProvidedApiServer & { ready: false }): ComponentOutcome<'APIServer'> {
  const { reason, message, requeueAfterMs, conditions, status } = server;
  return { readiness: { ready: false, reason, message }, requeueAfterMs, conditions, status };
}

/** What is known of it from before. One that somebody else provided is left alone: it would be made a second time, and the first never taken away. */
async function accessOf(
  { client, component }: ComponentContext<'APIServer'>,
  { provider }: ApiServerOptions,
): Promise<KnownAccess> {
  const known = await readAccess(client, component);
  if (known.provider === undefined || known.provider === provider.name) return known;
  throw new ComponentError(
    'ConfigurationProblem',
    `this API server comes from the provider ${known.provider}, and the operator runs with ${provider.name}; control planes do not move: start it with --provider ${known.provider}`,
  );
}

/** Makes sure that our controllers can get in, and renews their token before it expires, also after a restart. */
async function withAccess(
  context: ComponentContext<'APIServer'>,
  server: ProvidedApiServer & { ready: true },
  options: Work,
): Promise<ComponentOutcome<'APIServer'>> {
  const bootstrap = context.internal(server.bootstrapKubeconfig);
  const target = await options.connect(bootstrap.reveal());
  const nowMs = context.clock.now();
  const { known } = options;
  if (known.kubeconfig) context.internal(known.kubeconfig);
  // Also a look whether it answers: whoever depends on it should not have to find out.
  const identity = await clusterIdentity(target, known);
  if (server.access) {
    options.targetWatch.follow(context.key, await options.connect(server.access.kubeconfig));
    return await withGivenAccess(context, server, { server: target.server, identity, provider: options.provider.name });
  }
  let adminAccess = await presentAccess(context, known.kubeconfig, target, options);
  if (adminAccess === undefined) {
    const issued = await issueAdminAccess(target, nowMs, options.adminAccess);
    const secret = context.internal(issued.kubeconfig);
    options.targetWatch.follow(context.key, await options.connect(secret.reveal()));
    const { creationTimestamp, expirationTimestamp } = issued;
    adminAccess = options.inlineKubeconfig
      ? { kubeconfig: secret.reveal(), creationTimestamp, expirationTimestamp }
      : {
          secretRef: await writeAccessSecret(context.client, context.component, {
            ...issued,
            identity,
            provider: options.provider.name,
          }),
          creationTimestamp,
          expirationTimestamp,
        };
  }
  const status: Partial<Status> = {
    ...server.status,
    endpoint: server.endpoint ?? target.server,
    serviceAccountIssuer: server.serviceAccountIssuer,
    adminAccess,
  };
  const { creationTimestamp, expirationTimestamp } = adminAccess;
  const { conditions, requeueAfterMs = Infinity } = server;
  const renewMs =
    creationTimestamp && expirationTimestamp
      ? Math.max(1000, renewalTime({ creationTimestamp, expirationTimestamp }) - nowMs)
      : Infinity;
  const lookMs = Math.min(renewMs, requeueAfterMs);
  return { status, conditions, ...(lookMs === Infinity ? {} : { requeueAfterMs: lookMs }) };
}

/** Whoever provides the API server also gave us the access, and renews it: we keep a copy where our components look for it. */
async function withGivenAccess(
  context: ComponentContext<'APIServer'>,
  { access, conditions, status, endpoint, serviceAccountIssuer }: ProvidedApiServer & { ready: true },
  { server, ...origin }: { server: string; identity: string; provider: string },
): Promise<ComponentOutcome<'APIServer'>> {
  const { creationTimestamp, expirationTimestamp } = access!;
  const secretRef = await writeAccessSecret(context.client, context.component, { ...access!, ...origin });
  const adminAccess = { secretRef, creationTimestamp, expirationTimestamp };
  const lookAgainMs = renewalTime(access!) - context.clock.now();
  return {
    status: { ...status, endpoint: endpoint ?? server, serviceAccountIssuer, adminAccess },
    conditions,
    requeueAfterMs: Math.max(30_000, lookAgainMs),
  };
}

/** Our access as it is, unless it is due, was taken away, lies where it is no longer to, or leads elsewhere: to an old address, or with an old authority. */
async function presentAccess(
  context: ComponentContext<'APIServer'>,
  kubeconfig: string | undefined,
  target: Target,
  { connect, targetWatch, adminAccess: terms, inlineKubeconfig = false }: Work,
): Promise<NonNullable<Status['adminAccess']> | undefined> {
  const { adminAccess } = context.component.status ?? {};
  if (!adminAccess || !kubeconfig) return undefined;
  // One that lay in a status is not kept in a Secret from then on: who could read it has it.
  if ((adminAccess.kubeconfig !== undefined) !== inlineKubeconfig) return undefined;
  const own = await connect(kubeconfig);
  if (!sameServer(own, target) || (await isWithdrawn(targetWatch.follow(context.key, own), terms))) return undefined;
  const { creationTimestamp, expirationTimestamp } = adminAccess;
  const due =
    creationTimestamp &&
    expirationTimestamp &&
    context.clock.now() >= renewalTime({ creationTimestamp, expirationTimestamp });
  return due ? undefined : { ...adminAccess };
}
