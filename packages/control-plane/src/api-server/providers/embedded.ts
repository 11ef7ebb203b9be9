import { join, resolve } from 'node:path';
import { parse } from 'yaml';

import type { ComponentContext } from '../../component/define-component.ts';
import type { ConnectTarget } from '../../target/target.ts';
import { isReachable } from '../../target/reachability.ts';
import { authenticationConfiguration, identityProvidersChanged } from './authentication-configuration.ts';
import type { ApiServerProvider } from '../provider.ts';
import { type ClusterCommand, ClusterProcess } from './cluster-process.ts';

export interface EmbeddedOptions extends ClusterCommand {
  /** Folder for all of them. */
  readonly dataDir: string;
  readonly connect: ConnectTarget;
}

/** What one looks at again soon: a process starts in well under a second. */
const soonMs = 200;

/**
 * An embedded API server for each control plane: a process of its own with its own data, certificate authority and keys. It runs on the machine of
 * the operator, outlives it, and is found again. For trying things out and for small installations on one machine.
 */
export function embeddedProvider(options: EmbeddedOptions): ApiServerProvider {
  const processFor = ({ key }: ComponentContext<'APIServer'>): ClusterProcess =>
    new ClusterProcess(join(resolve(options.dataDir), key.namespace ?? '', key.name), options);
  return {
    name: 'embedded',
    watches: [identityProvidersChanged],
    async ensure(context) {
      const server = processFor(context);
      const kubeconfig = await server.kubeconfig();
      if (await server.isRunning()) {
        const target = kubeconfig ? await options.connect(kubeconfig) : undefined;
        if (!kubeconfig || !target || !(await isReachable(target)))
          return starting('the embedded API server is starting');
        const { text, leftOut } = await authenticationConfiguration(target.client);
        await server.trust(text);
        for (const each of leftOut) context.events.warning(context.component, 'IdentityProviderIgnored', each);
        return { ready: true, bootstrapKubeconfig: kubeconfig };
      }
      const said = await server.lastOutput();
      // The same port as before: kubeconfigs that people hold stay right.
      await server.start(kubeconfig ? portOf(kubeconfig) : 0);
      context.log.info('started an embedded API server', { folder: server.folder, before: said });
      return starting(
        kubeconfig ? 'the embedded API server had ended and is starting again' : 'the embedded API server is starting',
      );
    },
    async remove(context) {
      const server = processFor(context);
      if (await server.stop()) return { ...starting('waiting for the embedded API server to end') };
      await server.erase();
      return undefined;
    },
  };
}

function starting(message: string) {
  return { ready: false, reason: 'WaitingForAPIServer', message, requeueAfterMs: soonMs } as const;
}

function portOf(kubeconfig: string): number {
  const { clusters } = parse(kubeconfig) as { clusters?: { cluster?: { server?: string } }[] };
  const { port } = new URL(clusters?.[0]?.cluster?.server ?? 'http://localhost:0');
  return Number(port);
}
