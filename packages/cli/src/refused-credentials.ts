/** What to do about credentials a cluster does not accept. They may have been good yesterday. */
export const refusedCredentialsHint =
  'check the user of the kubeconfig context: credentials that have run out have to be renewed, as by logging in again';
