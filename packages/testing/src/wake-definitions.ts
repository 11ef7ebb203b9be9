import { CustomResourceDefinition, isConditionTrue, type Client } from '@slipway/kube';

/**
 * A kube-apiserver that dies between accepting the names of a definition and establishing it goes on with it only at the resync of its
 * informers, five minutes later. Any change of the definition wakes it sooner; a test has no five minutes.
 */
export async function wakeDefinitions(client: Client): Promise<void> {
  for await (const definition of client.list(CustomResourceDefinition)) {
    if (isConditionTrue(definition, 'Established') || !isConditionTrue(definition, 'NamesAccepted')) continue;
    const body = { metadata: { annotations: { 'test.slipway.dev/woken': 'true' } } };
    await client.patch(CustomResourceDefinition, { name: definition.metadata.name! }, { type: 'merge', body });
  }
}
