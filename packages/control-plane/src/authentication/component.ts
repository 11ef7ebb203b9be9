import { targetOf } from '../api-server/target-of.ts';
import { withReason } from '../component/component-error.ts';
import type { ComponentDefinition } from '../component/define-component.ts';
import { isHeeded } from '../component/is-heeded.ts';
import { OpenIDConnect } from '../target/open-id-connect.ts';
import { TargetWatch } from '../target/target-watch.ts';
import type { ConnectTarget } from '../target/target.ts';
import { type AuthenticationConfig, enabledProviders } from './identity-providers.ts';
import { installDefinition, managedBy, writeProviders } from './open-id-connect.ts';
import { removeUserKubeconfig, writeUserKubeconfig } from './user-kubeconfig-secret.ts';

export interface AuthenticationOptions {
  readonly connect: ConnectTarget;
  readonly config: AuthenticationConfig;
  /** Bring the definition of OpenIDConnect to control planes that have none. Default false: whoever serves them brings it. */
  readonly installDefinition?: boolean;
}

const problem = 'ManagingOpenIDConnectResourcesProblem';

/** The component that says who may log in to a control plane. */
export function authenticationComponent(options: AuthenticationOptions): ComponentDefinition<'Authentication'> {
  const targetWatch = new TargetWatch([{ kind: OpenIDConnect, labelSelector: managedBy }]);
  return {
    type: 'Authentication',
    dependsOn: ['APIServer'],
    targetWatch,
    async apply(context) {
      const target = await targetOf(context, options.connect);
      return await withReason(problem, async () => {
        const enabled = enabledProviders(context.component.spec, options.config);
        if (options.installDefinition) await installDefinition(target);
        // Where nobody is to log in the kind may be unknown.
        const known = options.installDefinition || enabled.length > 0;
        const watched = known ? targetWatch.follow(context.key, target) : targetWatch.look(target);
        await writeProviders(watched, enabled);
        return { status: { access: await writeUserKubeconfig(context, target, enabled) } };
      });
    },
    isReady: () => ({ ready: true }),
    async remove(context) {
      const target = await targetOf(context, options.connect);
      await withReason(problem, async () => {
        const isKept = await targetWatch.handOver(context.key, target, (other) =>
          isHeeded(context.cache, 'Authentication', other),
        );
        if (!isKept) await writeProviders(targetWatch.look(target), []);
        await removeUserKubeconfig(context);
      });
    },
  };
}
