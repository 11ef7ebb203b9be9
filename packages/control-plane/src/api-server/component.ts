import type { APIServer } from '../api/components.ts';
import {
  type ComponentContext,
  type ComponentDefinition,
  type ComponentOutcome,
  readyAsFound,
} from '../component/define-component.ts';
import type { ConnectTarget } from '../target/target.ts';
import { readAdminKubeconfig, removeAccessSecret, writeAccessSecret } from './access-secret.ts';
import { type AdminAccessOptions, issueAdminAccess, renewalTime } from './admin-access.ts';
import type { ApiServerProvider, ProvidedApiServer } from './provider.ts';

export interface ApiServerOptions {
  readonly provider: ApiServerProvider;
  readonly connect: ConnectTarget;
  readonly adminAccess?: AdminAccessOptions;
  /** Keep the admin kubeconfig in the status, as the original does, instead of in a Secret. Default false. */
  readonly inlineKubeconfig?: boolean;
}

type Status = NonNullable<APIServer['status']>;

/** The component that provides the API server of a control plane. It depends on nothing, and all others depend on it. */
export function apiServerComponent(options: ApiServerOptions): ComponentDefinition<'APIServer'> {
  return {
    type: 'APIServer',
    // Whoever depends on it needs it to clean up: it works on until the last of them has gone.
    servesDependentsWhileGoing: true,
    async apply(context) {
      const server = await options.provider.ensure(context);
      return server.ready ? await withAccess(context, server, options) : waiting(server);
    },
    isReady: readyAsFound,
    async remove(context) {
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

/** Makes sure that our controllers can get in, and renews their token before it expires, also after a restart. */
async function withAccess(
  context: ComponentContext<'APIServer'>,
  server: ProvidedApiServer & { ready: true },
  options: ApiServerOptions,
): Promise<ComponentOutcome<'APIServer'>> {
  const bootstrap = context.internal(server.bootstrapKubeconfig);
  const target = await options.connect(bootstrap.reveal());
  const nowMs = context.clock.now();
  if (server.access) return await withGivenAccess(context, server, target.server);
  let adminAccess = await presentAccess(context, nowMs);
  if (adminAccess === undefined) {
    const issued = await issueAdminAccess(target, nowMs, options.adminAccess);
    const secret = context.internal(issued.kubeconfig);
    const { creationTimestamp, expirationTimestamp } = issued;
    adminAccess = options.inlineKubeconfig
      ? { kubeconfig: secret.reveal(), creationTimestamp, expirationTimestamp }
      : {
          secretRef: await writeAccessSecret(context.client, context.component, issued),
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
  const { conditions } = server;
  if (!creationTimestamp || !expirationTimestamp) return { status, conditions };
  const renewMs = renewalTime({ creationTimestamp, expirationTimestamp }) - nowMs;
  return { status, conditions, requeueAfterMs: Math.max(1000, renewMs) };
}

/** Whoever provides the API server also gave us the access, and renews it: we keep a copy where our components look for it. */
async function withGivenAccess(
  context: ComponentContext<'APIServer'>,
  { access, conditions, status, endpoint, serviceAccountIssuer }: ProvidedApiServer & { ready: true },
  server: string,
): Promise<ComponentOutcome<'APIServer'>> {
  const { creationTimestamp, expirationTimestamp } = access!;
  const secretRef = await writeAccessSecret(context.client, context.component, access!);
  const adminAccess = { secretRef, creationTimestamp, expirationTimestamp };
  const lookAgainMs = renewalTime(access!) - context.clock.now();
  return {
    status: { ...status, endpoint: endpoint ?? server, serviceAccountIssuer, adminAccess },
    conditions,
    requeueAfterMs: Math.max(30_000, lookAgainMs),
  };
}

async function presentAccess(
  context: ComponentContext<'APIServer'>,
  nowMs: number,
): Promise<NonNullable<Status['adminAccess']> | undefined> {
  const { adminAccess } = context.component.status ?? {};
  const kubeconfig = await readAdminKubeconfig(context.client, context.component);
  if (!adminAccess || !kubeconfig) return undefined;
  context.internal(kubeconfig);
  const { creationTimestamp, expirationTimestamp } = adminAccess;
  const due =
    creationTimestamp && expirationTimestamp && nowMs >= renewalTime({ creationTimestamp, expirationTimestamp });
  return due ? undefined : { ...adminAccess };
}
