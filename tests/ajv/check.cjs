// check.cjs - does ajv judge each recorded body as our validator did?
const fs = require("fs");
const readline = require("readline");
const Ajv = require("ajv/dist/2020").default;
const formats = require("ajv-formats").default;

const [description, answers] = process.argv.slice(2);
const ajv = new Ajv({ strict: false, discriminator: false, allErrors: false });
formats(ajv);
// Open lists: what this version prints is in them.
ajv.addKeyword({ keyword: "x-known-values", type: "string", schemaType: "array",
    validate: (words, word) => words.includes(word) });
ajv.addSchema(JSON.parse(fs.readFileSync(description)), "d");
const compiled = new Map();

// A schema of an operation: its references are into the description.
function validator(schema) {
    const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"d#/');
    if (!compiled.has(text))
        compiled.set(text, ajv.compile(JSON.parse(text)));
    return compiled.get(text);
}

async function main() {
    let bodies = 0, wrong = 0, spoilt = 0, refused = 0;
    for await (const line of readline.createInterface({ input: fs.createReadStream(answers) })) {
        const { schema, body, fits, spoilt: bad } = JSON.parse(line);
        const validate = validator(schema);
        const agrees = validate(body) === fits;
        bodies++;
        spoilt += bad;
        refused += bad && !fits;
        if (agrees)
            continue;
        wrong++;
        if (wrong <= 10)
            console.log(`ours says ${fits}, ajv says ${!agrees !== fits}: ` +
                `${JSON.stringify(schema).slice(0, 120)} ${JSON.stringify(body).slice(0, 300)}\n` +
                `  ${JSON.stringify(validate.errors)?.slice(0, 300)}`);
    }
    console.log(`${bodies} bodies, of them ${spoilt} spoilt and ${refused} refused; ` +
        `${wrong} judged otherwise`);
    process.exit(wrong || bodies < 1000 || refused < 200 ? 1 : 0);
}

main();
