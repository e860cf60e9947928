export default {
  name: "verify-kyc",

  onActivate({ namespace, agentId }) {
    logger.info(`knows the customers of ${namespace}, for ${agentId}`);
  },

  async onQuery({ namespace, predicate, results }) {
    if (predicate !== `${namespace}:hasStatus`) return;

    const withStatus = (status: string) =>
      results.filter(({ object }) => object === status).map(({ subject }) => subject);

    const { matches } = await graphClient.patternQuery({ predicate: "isVerified", object: true, limit: 1000 });
    const verified = new Set(matches.map(({ subject }) => subject));
    const approved = withStatus("approved");

    return {
      additionalContext: {
        approved,
        pending: withStatus("pending"),
        rejected: withStatus("rejected"),
        toVerify: approved.filter((customer) => !verified.has(customer)),
      },
    };
  },

  onError({ error, operation }) {
    logger.error(`${operation} failed: ${error.name}: ${error.message}`);
  },

  onDeactivate({ reason }) {
    logger.info(`done: ${reason}`);
  },
} satisfies Skill;
