import type { APIServer } from '../api/components.ts';
import type { ComponentContext, ComponentDefinition, ComponentOutcome } from '../component/define-component.ts';
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
  const provided = new WeakMap<object, ProvidedApiServer>();
  return {
    type: 'APIServer',
    // Whoever depends on it needs it to clean up: it works on until the last of them has gone.
    servesDependentsWhileGoing: true,
    async apply(context) {
      const server = await options.provider.ensure(context);
      const outcome = server.ready ? await withAccess(context, server, options) : waiting(server);
      provided.set(outcome, server);
      return outcome;
    },
    isReady(_context, outcome) {
      const server = provided.get(outcome);
      if (server?.ready === false) return { ready: false, reason: server.reason, message: server.message };
      return { ready: true };
    },
    async remove(context) {
      const left = await options.provider.remove(context);
      if (left === undefined) {
        await removeAccessSecret(context.client, context.key);
        return undefined;
      }
      const { requeueAfterMs, ...waitingFor } = left;
      return { waiting: waitingFor, requeueAfterMs };
    },
  };
}

function waiting(server: ProvidedApiServer & { ready: false }): ComponentOutcome<'APIServer'> {
  return { requeueAfterMs: server.requeueAfterMs };
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
  if (!creationTimestamp || !expirationTimestamp) return { status };
  return { status, requeueAfterMs: Math.max(1000, renewalTime({ creationTimestamp, expirationTimestamp }) - nowMs) };
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
