import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.StringJoiner;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Makes topics, writes and reads messages and tells offsets, by Kafka's own client: a command and an answer a line. */
class Topics {
    public static void main(String[] arguments) throws Exception {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", arguments[0]);
        settings.put("acks", "all");
        settings.put("linger.ms", 5);
        ByteArraySerializer bytes = new ByteArraySerializer();
        try (Admin admin = Admin.create(settings);
                KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings, bytes, bytes)) {
            admin.describeCluster().nodes().get();
            System.out.println("ready");
            Scanner lines = new Scanner(System.in);
            while (lines.hasNextLine()) {
                System.out.println(answer(settings, admin, producer, lines.nextLine().split(" ")));
            }
        }
    }

    private static String answer(
            Map<String, Object> settings, Admin admin, KafkaProducer<byte[], byte[]> producer, String[] words)
            throws Exception {
        switch (words[0]) {
            case "create": // TOPIC PARTITIONS
                NewTopic topic = new NewTopic(words[1], Integer.parseInt(words[2]), (short) 1);
                admin.createTopics(Collections.singletonList(topic)).all().get();
                return "created";
            case "send": // TOPIC MESSAGE...
                List<Future<?>> sent = new ArrayList<>();
                for (int i = 2; i < words.length; i++) {
                    sent.add(producer.send(new ProducerRecord<>(words[1], Base64.getDecoder().decode(words[i]))));
                }
                producer.flush();
                for (Future<?> one : sent) {
                    one.get();
                }
                return "sent " + sent.size();
            case "read": // TOPIC
                return read(settings, words[1]);
            case "committed": // GROUP
                long sum = 0;
                Map<TopicPartition, OffsetAndMetadata> offsets =
                        admin.listConsumerGroupOffsets(words[1]).partitionsToOffsetAndMetadata().get();
                for (OffsetAndMetadata offset : offsets.values()) {
                    sum += offset == null ? 0 : offset.offset();
                }
                return Long.toString(sum);
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }
    /** All messages that the topic has when this begins, for no group. */
    private static String read(Map<String, Object> settings, String topic) {
        StringJoiner messages = new StringJoiner(" ", "read ", "");
        ByteArrayDeserializer bytes = new ByteArrayDeserializer();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings, bytes, bytes)) {
            List<TopicPartition> partitions =
                    consumer.partitionsFor(topic).stream()
                            .map(partition -> new TopicPartition(topic, partition.partition()))
                            .collect(Collectors.toList());
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            while (partitions.stream().anyMatch(partition -> consumer.position(partition) < ends.get(partition))) {
                for (ConsumerRecord<byte[], byte[]> message : consumer.poll(Duration.ofSeconds(1))) {
                    messages.add(Base64.getEncoder().encodeToString(message.value()));
                }
            }
        }
        return messages.toString();
    }
}
