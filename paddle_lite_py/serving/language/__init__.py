"""Language models behind OpenAI's API: tokenizers, continuous batching, requests and answers."""
