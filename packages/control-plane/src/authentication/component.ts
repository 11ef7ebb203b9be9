import { targetOf } from '../api-server/target-of.ts';
import { withReason } from '../component/component-error.ts';
import type { ComponentDefinition } from '../component/define-component.ts';
import type { ConnectTarget } from '../target/target.ts';
import { type AuthenticationConfig, enabledProviders } from './identity-providers.ts';
import { installDefinition, writeProviders } from './open-id-connect.ts';
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
  return {
    type: 'Authentication',
    dependsOn: ['APIServer'],
    async apply(context) {
      const target = await targetOf(context, options.connect);
      return await withReason(problem, async () => {
        const enabled = enabledProviders(context.component.spec, options.config);
        if (options.installDefinition) await installDefinition(target);
        await writeProviders(target, enabled);
        return { status: { access: await writeUserKubeconfig(context, target, enabled) } };
      });
    },
    isReady: () => ({ ready: true }),
    async remove(context) {
      const target = await targetOf(context, options.connect);
      await withReason(problem, async () => {
        await writeProviders(target, []);
        await removeUserKubeconfig(context);
      });
    },
  };
}
