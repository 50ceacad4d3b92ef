module.exports = {
    gridplan: { input: "./openapi.json", output: { target: "./generated/orval/api.ts", client: "fetch" } },
};
