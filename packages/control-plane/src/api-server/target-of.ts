import { readAccess } from './access-secret.ts';
import { ComponentError, withReason } from '../component/component-error.ts';
import type { ComponentType } from '../component/component-type.ts';
import type { ComponentContext } from '../component/define-component.ts';
import type { ConnectTarget, Target } from '../target/target.ts';

/** The control plane a component works on, through the access its APIServer dependency provides. */
export async function targetOf<T extends ComponentType>(
  context: ComponentContext<T>,
  connect: ConnectTarget,
): Promise<Target> {
  const kubeconfig = await adminKubeconfigOf(context);
  return await withReason('DependencyStatusInvalid', () => connect(kubeconfig));
}

/** The admin kubeconfig of that control plane, for whoever it is handed over to. Internal from here on. */
export async function adminKubeconfigOf<T extends ComponentType>(context: ComponentContext<T>): Promise<string> {
  const apiServer = context.dependencies.APIServer;
  const { kubeconfig } = apiServer ? await readAccess(context.client, apiServer) : {};
  if (!kubeconfig) {
    throw new ComponentError(
      'DependencyStatusInvalid',
      'APIServer dependency is ready, but no kubeconfig could be found for it',
    );
  }
  return context.internal(kubeconfig).reveal();
}
